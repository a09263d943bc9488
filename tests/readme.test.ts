import { describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { plugins } from "../plugins/index.ts";
import { checkSettingNames } from "../runtime/settings/config.ts";
import { describeBuiltIn } from "../scripts/client.ts";
import { settingsPage } from "../scripts/settings.ts";
import { operationsIn, pageWithTables } from "../scripts/tables.ts";
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

describe("the tables of docs/behaviour.md", () => {
  const namesIn = (text: string, what: "fields" | "routes") =>
    [...text.matchAll(/<!-- (fields|routes) of ([^>]+) -->/g)]
      .flatMap(([, kind, names = ""]) => (kind === what ? names.split(" ") : []))
      .toSorted();

  test("are those of the declarations: run bun scripts/tables.ts", async () => {
    const behaviour = await page("docs/behaviour.md");
    const description = await describeBuiltIn();
    expect(pageWithTables(behaviour, description)).toBe(behaviour);
    const stale = (what: string) => `<!-- ${what} -->\n\n| \`name\` | | | | mine |\n| \`gone\` | | | | theirs |\n`;
    const fields = pageWithTables(stale("fields of /account/crons"), description);
    expect(fields).toMatch(/`name` .*\| mine /);
    expect(fields).toContain("`timezone`");
    expect(fields).not.toContain("gone");
    const routes = pageWithTables(stale("routes of crons"), description);
    expect(routes).toMatch(/\| POST +\| \/account\/crons\/:id\/run +\| `crons` +\| Fire a cron now +\|/);
    expect(routes).not.toContain("gone");
  });

  test("have the fields of every resource, and the routes of every plugin, once", async () => {
    const behaviour = await page("docs/behaviour.md");
    const resources = plugins.flatMap((plugin) => plugin.resources ?? []);
    expect(namesIn(behaviour, "fields")).toEqual(resources.map(({ path }) => path).toSorted());
    const routed = new Set(operationsIn(await describeBuiltIn()).map(({ told }) => String(told["tags"])));
    expect(namesIn(behaviour, "routes")).toEqual([...routed].toSorted());
  });
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
