import { describe, expect, test } from "bun:test";
import { createEnds } from "./job-ends.ts";
import type { Finish, OrderKey, Retry } from "./job-store.ts";
import type { Run } from "./job.ts";

function run(id: number, orderKey: string | null = null, name = "mail"): Run {
  const job = { id, name, attempt: 1, forgiven: 0, maxAttempts: null, orderKey, accountId: null, payload: {} };
  const claimed = { ...job, share: null, bytes: 2, causation: null, dueAt: new Date(0) };
  return { job: claimed, leaseSeconds: 30, controller: new AbortController(), extendedAt: 0, finished: true };
}

/** Ends on a store that notes every call as a line; `failing` names the calls that fail. */
function start(failing: readonly ("finish" | "retry" | "promote")[] = []) {
  const lines: string[] = [];
  const faults = new Set<string>(failing);
  const statement = (name: string, ids: readonly (string | number)[]) => {
    lines.push(`${name} ${ids.length > 3 ? ids.length : ids.join(",")}`);
    if (faults.delete(name)) throw new Error("the connection is lost");
  };
  const ends = createEnds({
    jobStore: {
      finish: async (rows: readonly Finish[]) =>
        statement(
          "finish",
          rows.map(({ id }) => id),
        ),
      retry: async (rows: readonly Retry[]) =>
        statement(
          "retry",
          rows.map(({ id }) => id),
        ),
      promote: async (keys: readonly OrderKey[]) => {
        statement(
          "promote",
          keys.map(({ orderKey }) => orderKey),
        );
        return keys.map(({ name }) => name);
      },
    },
    wake: (name) => lines.push(`wake ${name}`),
    soon: (seconds) => lines.push(`soon ${seconds}`),
    settled: ({ job }) => lines.push(`settled ${job.id}`),
  });
  const finish = (one: Run) => ends.finish(one, { id: one.job.id, attempt: 1, outcome: "done", error: null });
  const retry = (one: Run, delaySeconds: number) =>
    ends.retry(one, { id: one.job.id, attempt: 1, delaySeconds, error: "down", forgiven: false });
  /** The lines of one batch. */
  const write = async () => {
    lines.length = 0;
    await ends.writeBatch().catch((error: Error) => lines.push(error.message));
    return [...lines];
  };
  return { ends, finish, retry, write };
}

describe("a batch", () => {
  test.each<[string, (on: ReturnType<typeof start>) => void, string[]]>([
    ["without ends makes no statement", () => {}, []],
    ["settles a run after its end is written", ({ finish }) => finish(run(1)), ["finish 1", "settled 1"]],
    [
      "frees the order key after the commit",
      ({ finish }) => finish(run(1, "7")),
      ["finish 1", "settled 1", "promote 7", "wake mail"],
    ],
    ["wakes for a retry that is due", ({ retry }) => retry(run(1), 0), ["retry 1", "settled 1", "wake mail"]],
    ["polls for a retry that waits", ({ retry }) => retry(run(1), 30), ["retry 1", "settled 1", "soon 30"]],
    ["keeps the order key of a retry", ({ retry }) => retry(run(1, "7"), 5), ["retry 1", "settled 1", "soon 5"]],
    [
      "wakes a name once for all its keys",
      ({ ends }) => ends.promote([1, 2, 3].map((key) => ({ name: "mail", orderKey: `${key}` }))),
      ["promote 1,2,3", "wake mail"],
    ],
  ])("%s", async (_, given, expected) => {
    const on = start();
    given(on);
    expect(await on.write()).toEqual(expected);
    expect([on.ends.isEmpty(), await on.write()]).toEqual([true, []]);
  });

  test("takes at most 500 ends", async () => {
    const { ends, finish, write } = start();
    for (let id = 1; id <= 501; id++) finish(run(id));
    expect((await write())[0]).toBe("finish 500");
    expect(ends.unwritten()).toBe(1);
    expect(await write()).toEqual(["finish 501", "settled 501"]);
  });
});

describe("a statement that fails", () => {
  test.each<["finish" | "retry" | "promote", string[], string[]]>([
    ["finish", ["finish 1"], ["finish 1", "settled 1", "retry 2", "settled 2", "soon 9", "promote 7", "wake mail"]],
    ["retry", ["finish 1", "settled 1", "retry 2"], ["retry 2", "settled 2", "soon 9", "promote 7", "wake mail"]],
    ["promote", ["finish 1", "settled 1", "retry 2", "settled 2", "soon 9", "promote 7"], ["promote 7", "wake mail"]],
  ])("%s is repeated with the same rows, and what came before it is not", async (name, before, after) => {
    const { ends, finish, retry, write } = start([name]);
    finish(run(1, "7"));
    retry(run(2), 9);
    expect(await write()).toEqual([...before, "the connection is lost"]);
    expect(ends.isEmpty()).toBe(false);
    expect(await write()).toEqual(after);
    expect(ends.isEmpty()).toBe(true);
  });

  test("takes what ended meanwhile along", async () => {
    const { finish, write } = start(["finish"]);
    finish(run(1));
    await write();
    finish(run(2));
    expect(await write()).toEqual(["finish 1,2", "settled 1", "settled 2"]);
  });
});
