import { expect, test } from "bun:test";
import { createLog } from "../../runtime/system/log.ts";
import type { TokenRow } from "./token.ts";
import { createUsage } from "./usage.ts";

const token = (id: number, lastUsedAt: Date | null = null) => ({ id, lastUsedAt }) as TokenRow; // all that is read of it

function usageThatTells() {
  const written: number[][] = [];
  const logged: string[] = [];
  let broken = false;
  const touch = async (ids: readonly number[]) => {
    if (broken) throw new Error("no database");
    written.push([...ids]);
  };
  const log = createLog("warn", (text) => logged.push(text));
  const usage = createUsage({ touch }, log);
  return { usage, written, told: () => (log.flush(), logged.join("")), breakDown: () => (broken = true) };
}

test("many uses are written together, each token once a minute", async () => {
  const { usage, written } = usageThatTells();
  const [one, two] = [token(1), token(2)];
  for (let at = 0; at < 100; at++) for (const each of [one, two]) usage.seen(each, 1_000_000 + at);
  await usage.flush();
  usage.seen(one, 1_059_000);
  await usage.flush();
  usage.seen(one, 1_060_000);
  await usage.flush();
  expect(written).toEqual([[1, 2], [1]]);
});

test("what another process wrote within the minute is not written again", async () => {
  const { usage, written } = usageThatTells();
  usage.seen(token(1, new Date(1_000_000)), 1_030_000);
  await usage.flush();
  expect(written).toEqual([]);
});

test("a write that fails is told, and fails no request", async () => {
  const { usage, told, breakDown } = usageThatTells();
  breakDown();
  usage.seen(token(1), 1_000_000);
  await usage.flush();
  usage.seen(token(2), 1_000_000);
  await usage.flush();
  expect(told()).toContain("no database");
});
