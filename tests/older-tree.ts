/**
 * The last version, checked out beside this one and ready to run:
 *
 *     const tree = checkOut(lastVersion());
 *     const server = await startServer([process.execPath, join(tree.folder, "plugins/main.ts")], { … });
 *     tree.remove();
 */
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { gunzipSync } from "node:zlib";

const root = resolve(import.meta.dir, "..");

export interface OlderTree {
  readonly folder: string;
  remove(): void;
}

/** LAST_VERSION, else the newest tag, else the commit whose statements are kept (scripts/statements.ts). */
export function lastVersion(): string {
  const given = process.env["LAST_VERSION"];
  if (given) return given;
  const [tag] = git("tag", "--list", "v[0-9]*", "[0-9]*", "--sort=-version:refname", "--merged", "HEAD").split("\n");
  if (tag) return tag;
  const kept: { commit: string } = JSON.parse(
    gunzipSync(readFileSync(join(import.meta.dir, "release/statements.json.gz"))).toString(),
  );
  return kept.commit;
}

/** Why it cannot be checked out; undefined if it can. A copy without history has no last version. */
export function whyNot(commit: string): string | undefined {
  const { status, error } = spawnSync("git", ["cat-file", "-e", `${commit}^{commit}`], { cwd: root });
  if (error) return "git is not installed";
  return status === 0 ? undefined : `this copy of the repository has no commit ${commit}`;
}

export function checkOut(commit: string): OlderTree {
  const folder = mkdtempSync(join(tmpdir(), "corestead-older-"));
  const tar = join(folder, "tree.tar");
  call(["git", "archive", "--output", tar, commit], root);
  call(["tar", "xf", tar], folder);
  rmSync(tar);
  call([process.execPath, "install", "--frozen-lockfile", "--silent"], folder);
  // What it serves to browsers is not what is tried, and takes seconds to build.
  cpSync(join(root, "dist/studio"), join(folder, "dist/studio"), { recursive: true });
  call([process.execPath, "scripts/runtimes.ts"], folder);
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

function git(...words: string[]): string {
  return spawnSync("git", words, { cwd: root, encoding: "utf8" }).stdout ?? "";
}

/** Throws what the program says if it fails. */
function call([program = "", ...words]: readonly string[], cwd: string): void {
  const { status, stderr, error } = spawnSync(program, words, { cwd, encoding: "utf8" });
  if (status !== 0) throw new Error(`${program} ${words.join(" ")}: ${stderr}`, { cause: error });
}
