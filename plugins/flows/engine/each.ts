/** Runs the steps of an `each` for its elements, several at once if `concurrency` says so. */
import { Stopped, Suspended } from "./host.ts";
import type { BlockFrame, EachFrame, Lane } from "./state.ts";
import { placeIn, type Thread } from "./thread.ts";
import type { Tools } from "./tools.ts";

/** Waits for every element that has begun. Throws what ended it: a failure, a `return`, or the earliest of its waits. */
export async function goThrough(
  tools: Tools,
  thread: Thread,
  frame: EachFrame,
  runThread: (thread: Thread) => Promise<void>,
): Promise<void> {
  const elements = tools.world.memory.lists[frame.list] ?? [];
  const ends: unknown[] = [];
  const over = () => ends.some((end) => !(end instanceof Suspended));
  const begun = [...frame.lanes];
  const next = () => begun.shift() ?? newLane(thread, frame, elements.length);
  const worker = async () => {
    for (let lane = next(); lane && !over(); lane = next()) {
      try {
        const { frames, index } = lane;
        await runThread({ frames, index, parent: thread, each: frame, stopped: () => over() || thread.stopped() });
        frame.lanes.splice(frame.lanes.indexOf(lane), 1);
      } catch (error) {
        ends.push(error);
        return;
      }
    }
  };
  await Promise.all(Array.from({ length: frame.concurrency }, worker));
  const end = endOf(ends);
  if (end !== undefined) throw end;
  tools.journal.drop(thread.frames.splice(-1));
  tools.finish(thread, { count: elements.length });
}

function newLane(thread: Thread, frame: EachFrame, count: number): Lane | undefined {
  if (frame.next >= count) return undefined;
  const lane: Lane = { index: frame.next, frames: [{ kind: "block", place: placeIn(ownerOf(thread), "do"), at: 0 }] };
  frame.next += 1;
  frame.lanes.push(lane);
  return lane;
}

/** The end of the `each` from those of its elements: the first failure or `return`, else the earliest wait. */
function endOf(ends: readonly unknown[]): unknown {
  const end =
    ends.find((one) => !(one instanceof Suspended) && !(one instanceof Stopped)) ??
    ends.find((one) => one instanceof Stopped);
  if (end !== undefined) return end;
  const waits = ends.filter((one) => one instanceof Suspended);
  if (waits.length === 0) return undefined;
  return new Suspended(
    Math.min(...waits.map(({ until }) => until)),
    waits.every(({ yielded }) => yielded),
  );
}

function ownerOf({ frames }: Thread): BlockFrame {
  const owner = frames.at(-2);
  if (owner?.kind !== "block") throw new Error("an each stands above its step");
  return owner;
}
