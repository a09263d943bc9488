/**
 * `corestead upgrade --from FILE`: another version in the place of this one, with a backup first, and back by itself if
 * it does not come up. The server is stopped before the backup, so that going back loses nothing.
 */
import { codeOf } from "../../base/values.ts";
import { setTimeout as sleep } from "node:timers/promises";
import {
  existsSync,
  mkdtempSync,
  renameSync,
  rmSync,
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  fsyncSync,
  linkSync,
  openSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { forgetRestore } from "../postgres/unfinished-restore.ts";
import { readiness, serviceState, settingsOf, type ServiceState } from "../service/service.ts";
import type { Machine, CommandResult } from "../service/steps.ts";
import { serviceName } from "../service/unit.ts";
import type { Environment } from "../../settings/settings.ts";
import { compareVersions } from "../../base/versions.ts";
import { checkFile, executableOf, versionOf } from "./candidate.ts";

export interface Upgrade extends Machine {
  readonly file: string;
  readonly keyFile: string;
  readonly allowDowngrade: boolean;
  /** "" = beside the data. */
  readonly backupFile: string;
  /** The executable that runs, and its version. */
  readonly current: string;
  readonly version: string;
  /** Where the server works, and its settings, if it is no service. */
  readonly folder: string;
  readonly env: Environment;
  readonly say: (line: string) => void;
  readonly now: Date;
  /** How long the new version may take to migrate, start and answer. */
  readonly readyWithinMs: number;
}

/** The server, as a service or not. */
interface Server {
  readonly state: ServiceState;
  readonly wasActive: boolean;
  readonly folder: string;
  readonly env: Environment;
  /** Runs a command of an executable as the server would: its user, its folder. */
  readonly command: (...words: readonly string[]) => Promise<CommandResult>;
}

/** Returns the exit code: 0 if the new version serves, 1 if the old one does again. Throws if nothing was changed. */
export async function upgrade(asked: Upgrade): Promise<number> {
  const { say, current } = asked;
  const work = mkdtempSync(join(tmpdir(), "corestead-upgrade-"));
  try {
    for (const line of await checkFile(asked)) say(line);
    const next = await executableOf(resolve(asked.file), work, asked);
    const version = await versionOf(next, asked);
    if (compareVersions(version, asked.version) < 0 && !asked.allowDowngrade)
      throw new Error(
        `${version} is older than ${asked.version}, and may refuse the database: --allow-downgrade if you mean it`,
      );
    const isSame = version === asked.version;
    const server = await serverOf(asked);
    say(`${asked.version} -> ${version}`);
    if (server.wasActive) await mustRun(asked, ["systemctl", "stop", serviceName]);
    const backup = await backedUp(asked, server, () => swapIn(next, current, isSame));
    const fault = await faultOf(asked, server);
    if (fault === undefined) {
      say(
        `${version} ${server.wasActive ? "serves" : "is in place: start the server"}; ${isSame ? "the version before" : asked.version} is in ${oldOf(current)}`,
      );
      return 0;
    }
    say(`${version} does not come up: ${fault}`);
    await goBack(asked, server, backup);
    return 1;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

async function serverOf(asked: Upgrade): Promise<Server> {
  const { run, root, current } = asked;
  if (existsSync(join(root, "var/lib/dpkg/info/corestead.list")) && current === "/usr/bin/corestead")
    throw new Error("the Debian package has installed this: apt-get install ./corestead_NEW.deb");
  const state = await serviceState(asked);
  if (state.isInstalled && state.executable !== current)
    throw new Error(`the service runs ${state.executable}, not ${current}: call that one`);
  const folder = state.isInstalled ? join(root, state.folder) : asked.folder;
  const env = state.isInstalled ? settingsOf(folder) : asked.env;
  const wasActive = state.isInstalled && state.active === "active";
  if (!wasActive && (await readiness(env)).isReady)
    throw new Error("the server runs, and is no service of systemd: stop it first, and start it afterwards");
  const user = state.isInstalled && state.user !== "" ? state.user : undefined;
  // A service has the settings of its folder's .env alone: those of whoever calls this would win over them.
  const place = { folder, env: state.isInstalled ? { PATH: process.env["PATH"] } : process.env };
  const command = (...words: readonly string[]) =>
    run(user === undefined ? words : ["runuser", "-u", user, "--", ...words], place);
  return { state, wasActive, folder, env, command };
}

/** Backs up, then swaps; undefined if there is no data yet. If either fails, the old version serves on. */
async function backedUp(asked: Upgrade, server: Server, swap: () => void): Promise<string | undefined> {
  const { current, version, say, now } = asked;
  try {
    const stamp = now.toISOString().replaceAll(/[-:]|\.\d+/g, "");
    const file =
      asked.backupFile === ""
        ? join(server.folder, `before-upgrade-of-${version}-${stamp}.backup`)
        : resolve(asked.backupFile);
    const hasData = Boolean(server.env["DATABASE_URL"]) || existsSync(clusterOf(server));
    if (hasData) {
      const { code, output } = await server.command(current, "backup", file);
      if (code !== 0) throw new Error(`the backup failed, and nothing was changed: ${output}`);
      say(`the backup is in ${file}`);
    }
    swap();
    return hasData ? file : undefined;
  } catch (error) {
    if (server.wasActive) await mustRun(asked, ["systemctl", "start", serviceName]);
    throw error;
  }
}

/** Why the version that is in place does not come up; undefined if it does. */
async function faultOf(asked: Upgrade, server: Server): Promise<string | undefined> {
  if (!server.wasActive) {
    // It migrates the database and sets up all plugins, as a start does.
    const { code, output } = await server.command(asked.current, "migrate");
    return code === 0 ? undefined : output;
  }
  // Without waiting: systemd gives a start half an hour, for large migrations.
  await mustRun(asked, ["systemctl", "start", "--no-block", serviceName]);
  return untilReady(asked, server);
}

const pauseMs = 250;

async function untilReady(asked: Upgrade, { env }: Server): Promise<string | undefined> {
  for (const end = Date.now() + asked.readyWithinMs; ; await sleep(pauseMs)) {
    const { active, sub } = await serviceState(asked);
    const hasFailed = active === "failed" || sub === "auto-restart";
    const { at, isReady, reason } = await readiness(env);
    // With PORT=0 nobody knows which port it takes; systemd waits until it is ready.
    if (active === "active" && (isReady || env["PORT"]?.trim() === "0")) return undefined;
    if (hasFailed || Date.now() >= end) return `the service is ${sub}, and ${at}: ${reason} (journalctl -u corestead)`;
  }
}

/** The old version again, with the database that it knows. */
async function goBack(asked: Upgrade, server: Server, backup: string | undefined): Promise<void> {
  const { say, version, current } = asked;
  if (server.wasActive) {
    await asked.run(["systemctl", "stop", serviceName]);
    // Its failures count towards the limit of starts.
    await asked.run(["systemctl", "reset-failed", serviceName]);
  }
  swapBack(current);
  say(`${version} is in place again`);
  const { code, output } = await server.command(current, "migrate");
  if (code !== 0) {
    if (!output.includes("which this version does not know") || backup === undefined)
      throw new Error(`${version} does not come up any more either: ${output}`);
    await restore(asked, server, backup);
  }
  if (!server.wasActive) return;
  const fault = await faultOf(asked, server);
  if (fault !== undefined) throw new Error(`${version} does not come up any more either: ${fault}`);
  say(`${version} serves again`);
}

/** The new version had migrated the database before it failed. */
async function restore({ current, now, say }: Upgrade, server: Server, backup: string): Promise<void> {
  if (server.env["DATABASE_URL"]) {
    const empty = "drop schema public cascade; create schema public;";
    throw new Error(
      `the database was migrated: empty it (${empty}), then \`${current} restore ${backup}\` and \`${current} adopt\` in ${server.folder}, and start the server`,
    );
  }
  const cluster = clusterOf(server);
  const aside = `${cluster}.failed-${now.getTime()}`;
  renameSync(cluster, aside);
  const { code, output } = await server.command(current, "restore", backup, "--force");
  if (code !== 0) {
    rmSync(cluster, { recursive: true, force: true });
    renameSync(aside, cluster);
    await forgetRestore(dirname(cluster));
    throw new Error(`the backup ${backup} cannot be restored: ${output}`);
  }
  // It was in this very place.
  await server.command(current, "adopt");
  say(`the database had been migrated: the backup is restored, and what was there is in ${aside}`);
}

/** The data of the embedded PostgreSQL. */
function clusterOf({ env, folder }: Pick<Server, "env" | "folder">): string {
  return join(resolve(folder, env["DATA_DIR"]?.trim() || "data"), "postgres");
}

async function mustRun({ run }: Machine, words: readonly string[]): Promise<void> {
  const { code, output } = await run(words);
  if (code !== 0) throw new Error(`\`${words.join(" ")}\` failed: ${output}`);
}

/** Puts another executable in the place of one, and back. Whoever starts it gets the one or the other, never half. */
export const oldOf = (current: string) => `${current}.old`;

/**
 * `current` becomes a copy of `file`; what it was stays beside it, with `.old`. If `isSame`, an upgrade to this version was
 * interrupted when it had put it in place: what is `.old` then is still the version before.
 */
export function swapIn(file: string, current: string, isSame: boolean): void {
  const draft = `${current}.new`;
  try {
    copyFileSync(file, draft, constants.COPYFILE_EXCL);
  } catch (cause) {
    const isTaken = codeOf(cause) === "EEXIST";
    throw new Error(
      isTaken
        ? `another upgrade is going on; if none is, remove ${draft}`
        : `nothing can be written beside ${current}: are you root?`,
      { cause },
    );
  }
  try {
    chmodSync(draft, 0o755);
    sync(draft);
    if (!isSame || !existsSync(oldOf(current))) {
      rmSync(oldOf(current), { force: true });
      linkSync(current, oldOf(current));
    }
    renameSync(draft, current);
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Undoes it. */
export function swapBack(current: string): void {
  renameSync(oldOf(current), current);
}

function sync(path: string): void {
  const file = openSync(path, constants.O_RDONLY);
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
