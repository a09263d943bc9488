/**
 * Makes the package @corestead/client in clients/typescript from the routes of the built-in plugins: index.ts, and
 * index.js and index.d.ts of it. Needs no database.
 *
 *     bun scripts/client.ts [FOLDER]
 */
import { cp, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { plugins } from "../plugins/index.ts";
import { describe } from "../runtime/operations/start/boot.ts";
import { readConfig } from "../runtime/settings/config.ts";
import { createLog } from "../runtime/system/log.ts";
import { clientModule, type Description } from "../runtime/operations/openapi/client.ts";
import { makeRuntimes } from "./runtimes.ts";
import { makeStudio } from "./studio.ts";

const root = resolve(import.meta.dir, "..");
const source = join(root, "clients/typescript");

if (import.meta.main) {
  const folder = resolve(process.argv[2] ?? source);
  await makeClient(folder);
  process.stdout.write(`wrote index.ts, index.js and index.d.ts in ${folder}\n`);
  process.exit(0);
}

async function makeClient(folder: string): Promise<void> {
  // The plugins that serve them read them when they start.
  await Promise.all([makeRuntimes(), makeStudio()]);
  const description = await describeBuiltIn();
  await mkdir(folder, { recursive: true });
  if (folder !== source) await cp(source, folder, { recursive: true });
  await Bun.write(join(folder, "index.ts"), clientModule(description));
  await compile(folder);
}

/** What /openapi.json says of the built-in plugins. */
export async function describeBuiltIn(): Promise<Description> {
  const dataDir = await mkdtemp(join(tmpdir(), "corestead-description-"));
  try {
    const env = { DATA_DIR: dataDir };
    return await describe({ config: readConfig(env), env, plugins, log: createLog("warn") });
  } finally {
    await rm(dataDir, { recursive: true });
  }
}

async function compile(folder: string): Promise<void> {
  const options = ["--target", "es2022", "--module", "esnext", "--lib", "es2022,dom", "--types", "--strict"];
  options.splice(options.indexOf("--types") + 1, 0, "");
  const command = [join(root, "node_modules/.bin/tsc"), "--declaration", "--ignoreConfig", ...options, "index.ts"];
  const tsc = Bun.spawn(command, { cwd: folder, stdout: "pipe", stderr: "inherit" });
  const output = await new Response(tsc.stdout).text();
  if ((await tsc.exited) !== 0) throw new Error(`the client does not compile:\n${output}`);
}
