/**
 * `corestead test FOLDER`: runs a plugin's tests with the test runner inside this program. They can import "platform",
 * "platform/accounts" and the like, and "platform/test".
 */
import { existsSync } from "node:fs";
import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { generatedFile, isCompiled } from "../../system/generated.ts";
import { ownProgram } from "../../system/process.ts";

/** Returns the runner's exit code. `more` holds further arguments for it, e.g. `--test-name-pattern X`. */
export async function runTests(path: string, more: readonly string[]): Promise<number> {
  const folder = resolve(path);
  if (!existsSync(join(folder, "plugin.ts")) && !existsSync(join(folder, "plugin.js")))
    throw new Error(`${folder} has no plugin.ts: corestead test FOLDER takes the folder of one plugin`);
  const work = await mkdtemp(join(tmpdir(), "corestead-test-"));
  try {
    const plugins = join(work, "plugins");
    await Bun.write(join(plugins, ".keep"), "");
    await symlink(folder, join(plugins, basename(folder)));
    const preload = join(work, "preload.ts");
    await Bun.write(preload, preloadText(await modulesFile(work)));
    const runner = Bun.spawn([process.execPath, "test", "--preload", preload, "--timeout", "60000", ...more, folder], {
      cwd: folder,
      env: {
        ...process.env,
        // The executable contains all of Bun; this variable makes it behave as Bun.
        BUN_BE_BUN: "1",
        CORESTEAD_PROGRAM: JSON.stringify(ownProgram()),
        CORESTEAD_TEST_PLUGINS: plugins,
      },
      stdio: ["inherit", "inherit", "inherit"],
    });
    return await runner.exited;
  } finally {
    await rm(work, { recursive: true });
  }
}

/** A file that exports `modules` (plugins/modules.ts) and `testing` (test-app.ts). */
async function modulesFile(work: string): Promise<string> {
  if (!isCompiled()) return join(import.meta.dir, "../../../plugins/test-modules.ts");
  const file = join(work, "modules.js");
  await Bun.write(file, await generatedFile("test-modules.js"));
  return file;
}

function preloadText(modules: string): string {
  return `import { modules, testing } from ${JSON.stringify(modules)};
Bun.plugin({
  name: "platform",
  setup(build) {
    for (const [name, exports] of Object.entries({ ...modules, "platform/test": testing }))
      build.module(name, () => ({ exports, loader: "object" }));
  },
});
`;
}
