import { expect, test } from "bun:test";
import { createLog } from "../system/log.ts";
import { until } from "../../tests/job-fixtures.ts";
import { createWriter } from "./leases.ts";

/** Two kinds of ends, whose statements are noted; `failing` ones fail once. */
function start(...failing: string[]) {
  const lines: string[] = [];
  const writer = createWriter("jobs", createLog("error"));
  const list = (name: string) =>
    writer.list<number>(async (rows) => {
      lines.push(`${name} ${rows.length > 3 ? rows.length : rows.join(",")}`);
      const at = failing.indexOf(name);
      if (at < 0) return;
      failing.splice(at, 1);
      throw new Error("the connection is lost");
    });
  return { lines, writer, finish: list("finish"), retry: list("retry") };
}

test("writes what ends together in one statement, 500 at most, and each kind after those before it", async () => {
  const { lines, writer, finish, retry } = start();
  retry(1, 2);
  for (let n = 1; n <= 501; n++) finish(n);
  expect(writer.unwritten()).toBe(503);
  await until(() => writer.unwritten() === 0);
  expect(lines).toEqual(["finish 500", "retry 1,2", "finish 501"]);
});

test("repeats a statement that failed, with what has come meanwhile", async () => {
  const { lines, writer, finish, retry } = start("retry");
  finish(1);
  retry(2);
  await until(() => lines.length === 2);
  retry(3);
  await until(() => writer.unwritten() === 0);
  expect(lines).toEqual(["finish 1", "retry 2", "retry 2,3"]);
});

test("gives up what fails while it stops", async () => {
  const { lines, writer, finish } = start("finish");
  finish(1);
  await writer.stop();
  expect([lines, writer.unwritten()]).toEqual([["finish 1"], 1]);
});
