/** What a run has to store: the steps that ended, and whether the variables changed. */
import type { Frame, State, StepRecord } from "./state.ts";

const outputChars = 16_000;
const outputsChars = 1_000_000;

/** Replaces an output that is too large; `text` is its JSON. */
export function previewOf(text: string) {
  return { truncated: true, chars: text.length, preview: text.slice(0, 200).toWellFormed() };
}

export type Journal = ReturnType<typeof createJournal>;

export function createJournal({ cursor, memory }: State, now: () => number) {
  let records: StepRecord[] = [];
  let memoryChanged = false;

  /** The output as the list of steps keeps it. */
  const kept = (output: unknown): unknown => {
    const text = JSON.stringify(output ?? null);
    const small = text.length <= outputChars && cursor.outputChars + text.length <= outputsChars;
    cursor.outputChars += small ? text.length : 0;
    return small ? (output ?? null) : previewOf(text);
  };
  /** Notes what the running step of this frame is given; another attempt is given it anew. */
  const given = (frame: Frame | undefined, input: unknown): void => {
    if (frame?.kind !== "block" || !frame.running) return;
    const before = JSON.stringify(frame.running.input)?.length ?? 0;
    const text = JSON.stringify(input ?? null);
    const used = (cursor.inputChars ?? 0) - before;
    const small = text.length <= outputChars && used + text.length <= outputsChars;
    frame.running.input = small ? input : previewOf(text);
    cursor.inputChars = used + JSON.stringify(frame.running.input).length;
  };
  /** Records that the running step of this frame has ended. */
  const record = (
    frame: Frame | undefined,
    status: "finished" | "error",
    output: unknown,
    error: string | null,
    warnings: readonly string[] = [],
  ): void => {
    if (frame?.kind !== "block" || !frame.running) return;
    const { n, since, id, type, usage, input } = frame.running;
    const started_at = new Date(since).toJSON();
    const finished_at = new Date(now()).toJSON();
    const seen = { ...(input !== undefined && { input }), ...(frame.tries && { attempts: frame.tries + 1 }) };
    const told = { ...(warnings.length > 0 && { warnings }), ...(usage && { usage }) };
    records.push({ n, id, type, status, started_at, finished_at, output: kept(output), error, ...seen, ...told });
  };
  /** Records that the running steps of these frames have ended with this error. */
  const recordAll = (frames: readonly Frame[], error: string): void => {
    for (const frame of frames) {
      if (frame.kind === "each") for (const lane of frame.lanes) recordAll(lane.frames, error);
      record(frame, "error", null, error);
    }
  };
  /** Removes from the memory what these frames keep there. */
  const drop = (frames: readonly Frame[]): void => {
    for (const frame of frames) {
      if (frame.kind === "call") delete memory.scopes[frame.scope];
      if (frame.kind === "each") {
        delete memory.lists[frame.list];
        for (const lane of frame.lanes) drop(lane.frames);
      }
      if (frame.kind !== "block") memoryChanged = true;
    }
  };

  return {
    given,
    record,
    recordAll,
    drop,
    /** The memory has to be stored again. */
    changed: () => void (memoryChanged = true),
    isEmpty: () => records.length === 0,
    /** What happened since the last call. */
    take(): { records: StepRecord[]; memoryChanged: boolean } {
      const taken = { records, memoryChanged };
      records = [];
      memoryChanged = false;
      return taken;
    },
  };
}
