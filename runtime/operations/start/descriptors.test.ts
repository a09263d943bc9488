import { expect, test } from "bun:test";
import { mostDescriptors, watchDescriptors } from "./descriptors.ts";
import { createLog } from "../../system/log.ts";
import { createMetrics } from "../../system/metrics.ts";

const limits = (soft: string) =>
  `Limit  Soft Limit  Hard Limit  Units\nMax open files            ${soft}                 1024                 files     \n`;

test.each([
  [limits("1024"), 1024],
  [limits("unlimited"), undefined],
  ["", undefined],
])("of %j it is %p", (text, most) => {
  expect(mostDescriptors(text)).toBe(most);
});

test.each([
  [1024, true],
  [65_536, false],
])("a limit of %d is warned of: %p", async (most, warns) => {
  const said: string[] = [];
  const metrics = createMetrics();
  const log = createLog("warn", (text) => said.push(text));
  watchDescriptors(log, metrics, most);
  log.flush();
  expect(said.join("").includes("raise the limit of open files")).toBe(warns);
  expect(await metrics.print()).toContain(`process_max_fds ${most}`);
});
