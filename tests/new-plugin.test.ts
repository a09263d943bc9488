/** `bun scripts/new-plugin.ts NAME`: its result works and passes all our checks. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { cleanUp, folderWith, run, type Ended } from "./server-process.ts";

// A machine that runs other tests at the same time may be slow.
setDefaultTimeout(600_000);
const root = resolve(import.meta.dir, "..");
/** Long enough to need different line breaks than the template. */
const name = "register-of-borrowed-tools";
let folder: string;
let written: Ended;

const newPlugin = (...words: string[]) =>
  run([process.execPath, join(root, "scripts/new-plugin.ts"), ...words], { cwd: root });
const tool = (program: string, ...words: string[]) =>
  run([join(root, "node_modules/.bin", program), ...words], { cwd: root });

beforeAll(async () => {
  // Inside the repository, so that its test finds the harness and the tools find their settings.
  folder = mkdtempSync(join(root, "new-plugin-test-"));
  written = await newPlugin(name, "--dir", folder);
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await cleanUp();
});

describe("a new plugin", () => {
  test("is a folder like the others, and one is told what to do with it", () => {
    expect(written.stderr).toBe("");
    expect(written.stdout).toContain("read its plugin.ts first");
    const files = readdirSync(join(folder, name), { recursive: true }).map(String).toSorted();
    expect(files).toEqual(
      [
        "README.md",
        "api.ts",
        "items.ts",
        "migrations",
        "migrations/001_register_of_borrowed_tools.sql",
        "plugin.ts",
        "prompts",
        "prompts/register_of_borrowed_tools_api.md",
        `${name}.test.ts`,
        "routes.ts",
        "steps.ts",
        "store.ts",
        "studio",
        "studio/overview.page.ts",
        "studio/texts.ts",
      ].toSorted(),
    );
    for (const file of files.filter((each) => each.includes(".")))
      expect(readFileSync(join(folder, name, file), "utf8")).not.toMatch(/sample.?plugin/i);
    expect(readFileSync(join(folder, name, "items.ts"), "utf8")).toContain(`"RegisterOfBorrowedTools::Item"`);
  });

  test("is formatted, linted and type-checked", async () => {
    await Bun.write(
      join(folder, "tsconfig.json"),
      JSON.stringify({
        extends: "../tsconfig.json",
        include: [".", "../runtime/*.d.ts", "../plugins/**/*.d.ts", "../sites/studio/app/**/*.d.ts"],
      }),
    );
    const checks = await Promise.all([
      tool("oxfmt", "--check", join(folder, name)),
      tool("oxlint", "--type-aware", "--type-check", "--deny-warnings", join(folder, name)),
    ]);
    for (const { code, stdout, stderr } of checks) expect(code === 0 ? "" : stdout + stderr).toBe("");
  });

  test("passes its own test", async () => {
    const { code, stdout, stderr } = await run([process.execPath, "test", join(folder, name)], { cwd: root });
    expect(code === 0 ? "" : stdout + stderr).toBe("");
    expect(stderr).toMatch(/ [1-9]\d* pass\n 0 fail\n/);
  });

  test("does not overwrite what is there", async () => {
    const again = await newPlugin(name, "--dir", folder);
    expect(again).toMatchObject({ code: 1, stdout: "", stderr: `${join(folder, name)} exists: nothing was written\n` });
  });
});

test.each(["", "Notes", "1notes", "my_notes", "-notes", "notes-", "../notes", "a".repeat(41), "runtime", "accounts"])(
  "the name %j is refused in one line, and nothing is written",
  async (bad) => {
    const parent = folderWith();
    const refused = await newPlugin(bad, "--dir", parent);
    expect(refused.code).toBe(1);
    expect(refused.stderr.trim().split("\n")).toHaveLength(1);
    expect(readdirSync(parent)).toEqual([]);
  },
);

test('outside of the repository a tsconfig.json says what "platform" is, and one that is there stays', async () => {
  const parent = folderWith();
  expect((await newPlugin("tools", "--dir", parent)).code).toBe(0);
  const types = await tool("tsc", "--noEmit", "-p", parent);
  expect(types.stdout).toBe("");

  const own = folderWith({ "tsconfig.json": "{}" });
  expect((await newPlugin("tools", "--dir", own)).code).toBe(0);
  expect(readFileSync(join(own, "tsconfig.json"), "utf8")).toBe("{}");
  expect(existsSync(join(own, "tools/plugin.ts"))).toBe(true);
});
