/** Files of people as the server receives them, and the guarded process that looks into them. No HTTP. */
import { ChildFault, HttpError, invalid, tooLarge, unavailable, type BaseContext, type Child } from "platform";
import type { FileResult, FileTask } from "./child.ts";
import type { Preview, PreviewOptions } from "./preview.ts";

/** So much of a file of text is looked at; a workbook is read whole, because its table of contents is at its end. */
export const looked = { text: 5_000_000, workbook: 20_000_000 } as const;
/** The rows of a sheet as text. */
const mostSheetText = 64_000_000;

/** The process that reads them. */
export function fileReading(ctx: Pick<BaseContext, "child">): Child {
  return ctx.child("files", {
    timeLimitMs: 20_000,
    memoryBytes: 1_800_000_000,
    maxResultBytes: mostSheetText,
    maxIdleBytes: 250_000_000,
    idleMs: 60_000,
    env: { BUN_JSC_forceRAMSize: "150000000" },
  });
}

/** The beginning of a file, and what follows. */
export interface Received {
  readonly head: Uint8Array<ArrayBuffer>;
  /** `head` is all of it. */
  readonly isComplete: boolean;
  readonly isArchive: boolean;
  /** The whole file; can be read once. */
  readonly pieces: AsyncGenerator<Uint8Array>;
}

/** 413 for a workbook that is too large. */
export async function receive(body: AsyncGenerator<Uint8Array>): Promise<Received> {
  const kept: Uint8Array[] = [];
  let size = 0;
  let isArchive = false;
  let isComplete = true;
  // Not `for await`: leaving it would end the body.
  for (;;) {
    const { value, done } = await body.next();
    if (done) break;
    kept.push(value);
    size += value.length;
    if (size - value.length < 2 && size >= 2) isArchive = startsLikeZip(kept);
    if (isArchive && size > looked.workbook) throw tooLarge(looked.workbook);
    if (isArchive || size < looked.text) continue;
    isComplete = false;
    break;
  }
  const head = new Uint8Array(await new Blob(kept.map((piece) => new Uint8Array(piece))).arrayBuffer());
  const pieces = (async function* () {
    yield head;
    if (!isComplete) yield* body;
  })();
  return { head, isComplete, isArchive, pieces };
}

function startsLikeZip(pieces: readonly Uint8Array[]): boolean {
  const [first, second] = pieces.flatMap((piece) => [...piece.subarray(0, 2)]);
  return first === 0x50 && second === 0x4b;
}

/** 422 if it is no table. */
export async function previewFile(
  child: Child,
  { head, isComplete }: Pick<Received, "head" | "isComplete">,
  options: PreviewOptions,
): Promise<Preview> {
  const bytes = isComplete ? head : head.subarray(0, looked.text);
  const result = await run(child, { do: "preview", bytes: bytes.toBase64(), isComplete, options });
  if (!("preview" in result)) throw new Error("the process answers another question");
  return result.preview;
}

/** The rows of a sheet as JSON, many on each line; each is the number of the row, then its cells. */
export async function sheetText(child: Child, head: Uint8Array, sheet: string | undefined): Promise<string> {
  const result = await run(child, { do: "rows", bytes: head.toBase64(), sheet });
  if (!("text" in result)) throw new Error("the process answers another question");
  return result.text;
}

async function run(child: Child, task: FileTask): Promise<Exclude<FileResult, { fault: unknown }>> {
  const result = (await child.run(task).catch(explained)) as FileResult; // child.ts answers with one
  if ("fault" in result) throw invalid({ [result.fault.field]: [result.fault.message] });
  return result;
}

function explained(error: unknown): never {
  if (!(error instanceof ChildFault)) throw error;
  if (error.reason === "busy" || error.reason === "stopped")
    throw unavailable("the server is too busy to read the file, try again");
  if (error.reason === "result-too-large")
    throw new HttpError(422, { file: [`has more than ${mostSheetText / 1e6} MB of text: save it as CSV`] });
  const why = error.reason === "timeout" ? "takes too long to read" : "cannot be read: it takes too much memory";
  throw invalid({ file: [`${why}: save it as CSV`] });
}
