import { expect, test } from "bun:test";
import { notice } from "../scripts/notice.ts";

test("NOTICE names what the executable carries: run bun scripts/notice.ts", async () => {
  expect(await Bun.file(`${import.meta.dir}/../NOTICE`).text()).toBe(await notice());
});
