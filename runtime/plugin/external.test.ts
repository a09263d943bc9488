import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { notFound } from "../base/errors.ts";
import { modules } from "../../plugins/modules.ts";
import { loadExternalPlugins } from "./external.ts";

const folders: string[] = [];
afterAll(() => folders.forEach((folder) => rmSync(folder, { recursive: true })));

function folderWith(files: Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), "corestead-plugins-"));
  folders.push(folder);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

async function refusal(files: Record<string, string>): Promise<string> {
  const error = await loadExternalPlugins(folderWith(files), modules).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof Error)) throw new Error("it loaded");
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}

const plugin = (name: string) => `
  import { definePlugin } from "platform";
  export default definePlugin({ name: "${name}", setup: () => ({}) });`;

describe("PLUGINS_DIR", () => {
  test("not set, nothing is loaded", async () => {
    expect(await loadExternalPlugins("", modules)).toEqual([]);
  });

  test("a folder, a file and a link to a folder are loaded in the order of their names", async () => {
    const elsewhere = folderWith({ "plugin.js": plugin("third") });
    const folder = folderWith({ "b.ts": plugin("second"), "a/plugin.ts": plugin("first") });
    symlinkSync(elsewhere, join(folder, "c"));
    const loaded = await loadExternalPlugins(folder, modules);
    expect(loaded.map(({ name }) => name)).toEqual(["first", "second", "third"]);
  });

  test("what is no plugin by its name is left alone", async () => {
    const names = ["README.md", "platform.d.ts", "notes.test.ts", ".git/config", "_shared/text.ts", "tsconfig.json"];
    const broken = Object.fromEntries([...names, "node_modules/x/index.js"].map((name) => [name, "not { a program"]));
    expect(await loadExternalPlugins(folderWith(broken), modules)).toEqual([]);
  });

  test("a plugin imports its own files, as code and as text", async () => {
    const folder = folderWith({
      "notes/plugin.ts": `
        import { definePlugin } from "platform";
        import { name } from "./names.ts";
        import sql from "./001_notes.sql" with { type: "text" };
        export default definePlugin({ name, migrations: [{ name: "001_notes", sql }], setup: () => ({}) });`,
      "notes/names.ts": `export const name: string = "notes";`,
      "notes/001_notes.sql": "create table notes ()",
    });
    const [notes] = await loadExternalPlugins(folder, modules);
    expect(notes?.name).toBe("notes");
    expect(notes?.migrations).toEqual([{ name: "001_notes", sql: "create table notes ()" }]);
  });

  test("a plugin has the same classes as the runtime", async () => {
    const folder = folderWith({
      "x.ts": `
        import { definePlugin, HttpError } from "platform";
        export default { ...definePlugin({ name: "x", setup: () => ({}) }), HttpError };`,
    });
    const [loaded] = await loadExternalPlugins(folder, modules);
    expect(loaded).toHaveProperty("HttpError", notFound().constructor);
  });
});

describe("a plugin that does not load is named with its reason", () => {
  const cases: [files: Record<string, string>, said: RegExp][] = [
    [{ "x.ts": "export default 1 +;" }, /plugin \S+\/x\.ts does not load: .*\(.*x\.ts:1:19\)/],
    [{ "x.ts": "let a; let a; let b; let b;" }, /"a" has already been declared \(.*"b" has already been declared \(/],
    [{ "x.ts": `import "./gone.ts";` }, /x\.ts does not load: .*\.\/gone\.ts/],
    [
      { "x.ts": `import { gone } from "platform"; gone();` },
      /x\.ts does not load: .*gone.* This Corestead has platform \d/,
    ],
    [{ "x.ts": `throw new Error("no licence");` }, /x\.ts does not load: no licence/],
    [{ "x.ts": "export const plugin = 1;" }, /x\.ts must default-export what definePlugin\(\) returns/],
    [{ "x.ts": "export default { name: 1 };" }, /x\.ts must default-export/],
    [{ "x/main.ts": plugin("x") }, /PLUGINS_DIR: \S+\/x has no plugin\.ts/],
  ];
  test.each(cases)("%j", async (files, said) => {
    expect(await refusal(files)).toMatch(said);
  });

  test("a folder that is not there", async () => {
    expect(loadExternalPlugins("/nowhere/plugins", modules)).rejects.toThrow(
      "PLUGINS_DIR: /nowhere/plugins cannot be read",
    );
  });
});
