import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { plugins } from "../plugins/index.ts";
import { checkSettingNames } from "../runtime/config.ts";
import { readmeWithSettings } from "../scripts/readme.ts";
import { readmeWithTour, withoutVariables } from "../scripts/tour.ts";
import { adminToken, startTestApp } from "./harness.ts";

const readme = await Bun.file(`${import.meta.dir}/../README.md`).text();

test("the README's table of settings is that of the code: run bun scripts/readme.ts", async () => {
  expect(readme).toBe(await readmeWithSettings());
});

test("no variable is declared twice, by the runtime or by a built-in plugin", () => {
  expect(() => checkSettingNames([], plugins)).not.toThrow();
});

test("the README's tour prints what it says: run bun scripts/tour.ts", async () => {
  const app = await startTestApp();
  const folder = mkdtempSync(join(tmpdir(), "corestead-tour-"));
  try {
    const printed = await readmeWithTour(app.origin, adminToken, folder);
    expect(withoutVariables(printed)).toBe(withoutVariables(readme));
  } finally {
    rmSync(folder, { recursive: true, force: true });
    await app.stop();
  }
});
