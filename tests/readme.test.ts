import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { plugins } from "../plugins/index.ts";
import { checkSettingNames } from "../runtime/settings/config.ts";
import { pageWithFields } from "../scripts/field-tables.ts";
import { settingsPage } from "../scripts/settings.ts";
import { pageWithTour, withoutVariables } from "../scripts/tour.ts";
import { adminToken, startTestApp } from "./harness.ts";

const root = join(import.meta.dir, "..");
const page = (path: string) => Bun.file(join(root, path)).text();

test("the README has at most 900 words and one small picture, and leads to every page of docs/", async () => {
  const readme = await page("README.md");
  expect(readme.split(/\s+/).filter(Boolean).length).toBeLessThanOrEqual(900);
  expect(readme).toContain("(docs/studio.png)");
  expect(Bun.file(join(root, "docs/studio.png")).size).toBeLessThanOrEqual(150_000);
  const pages = [...new Bun.Glob("docs/*.md").scanSync(root), "SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md"];
  expect(pages.filter((path) => !readme.includes(`(${path})`))).toEqual([]);
});

test("docs/settings.md is that of the code: run bun scripts/settings.ts", async () => {
  expect(await page("docs/settings.md")).toBe(settingsPage());
});

test("the tables of fields in docs/behaviour.md are those of the declarations: run bun scripts/field-tables.ts", async () => {
  const behaviour = await page("docs/behaviour.md");
  expect(pageWithFields(behaviour)).toBe(behaviour);
  const stale = "<!-- fields of /account/crons -->\n\n| `name` | | | | mine |\n| `gone` | | | | theirs |\n";
  expect(pageWithFields(stale)).toContain("| mine ");
  expect(pageWithFields(stale)).toContain("`timezone`");
  expect(pageWithFields(stale)).not.toContain("gone");
});

test("no variable is declared twice, by the runtime or by a built-in plugin", () => {
  expect(() => checkSettingNames([], plugins)).not.toThrow();
});

test("the tour prints what it says: run bun scripts/tour.ts", async () => {
  const app = await startTestApp();
  const folder = mkdtempSync(join(tmpdir(), "corestead-tour-"));
  try {
    const printed = await pageWithTour(app.origin, adminToken, folder);
    expect(withoutVariables(printed)).toBe(withoutVariables(await page("docs/tour.md")));
  } finally {
    rmSync(folder, { recursive: true, force: true });
    await app.stop();
  }
});
