/** scripts/start and scripts/test without access to the package registry. */
import { afterAll, describe, expect, test } from "bun:test";
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { cleanUp, folderWith } from "./server-process.ts";

afterAll(cleanUp);

const checkout = resolve(import.meta.dir, "..");
const programs = ["sh", "dirname", "cmp", "cp", "cat", "tail"];

/** A checkout in which nothing is installed, and a PATH with few programs. */
function freshCheckout(npm?: string) {
  const folder = folderWith();
  for (const part of ["scripts", "patches", "package.json", "bun.lock"])
    cpSync(join(checkout, part), join(folder, part), { recursive: true });
  const bin = join(folder, "bin");
  mkdirSync(bin);
  for (const name of programs) symlinkSync(Bun.which(name) ?? name, join(bin, name));
  if (npm !== undefined) writeFileSync(join(bin, "npm"), `#!/bin/sh\n${npm}\n`, { mode: 0o755 });
  return { folder, bin };
}

async function runScript(script: string, folder: string, path: string) {
  const child = Bun.spawn(["sh", join(folder, "scripts", script)], {
    // Nothing listens on port 9 of this machine.
    env: { PATH: path, BUN_CONFIG_REGISTRY: "http://127.0.0.1:9", BUN_INSTALL_CACHE_DIR: join(folder, "cache") },
    stdout: "ignore",
    stderr: "pipe",
  });
  return { code: await child.exited, said: await new Response(child.stderr).text() };
}

describe.each(["start", "test"])("scripts/%s says what could not be installed, why, and what to do", (script) => {
  test("of packages", async () => {
    const { folder, bin } = freshCheckout();
    // npm's Bun is a file named bun.exe, so the name is given here.
    symlinkSync(process.execPath, join(bin, "bun"));
    const { code, said } = await runScript(script, folder, bin);
    expect(code).toBe(1);
    expect(said).toContain("The packages of bun.lock could not be installed; the reason is above.");
    expect(said).toMatch(/ConnectionRefused/);
    expect(said).toContain("HTTPS_PROXY");
  });

  test("of Bun itself", async () => {
    const { folder, bin } = freshCheckout("echo 'npm error code ENOTFOUND' >&2; exit 1");
    const { code, said } = await runScript(script, folder, bin);
    expect(code).toBe(1);
    expect(said).toMatch(/npm error code ENOTFOUND\nBun \S+ could not be installed; the reason is above\./);
  });
});
