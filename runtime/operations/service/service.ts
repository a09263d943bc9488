/** `corestead service install|uninstall|status`: the server as a service of systemd. */
import { existsSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { parseEnv } from "node:util";
import {
  packagedUnitFile,
  serviceName,
  serviceUser,
  settingsFile,
  settingsText,
  stateFolder,
  unitFile,
  unitText,
} from "./unit.ts";
import { perform, print, type Machine, type Step } from "./steps.ts";

const backupFolder = "/var/backups/corestead";
/** Where the executable goes if it stands where the service may not look, such as in a home folder. */
const installedExecutable = "/usr/local/bin/corestead";

export interface Service extends Machine {
  /** The program that runs, and whether it is an executable of its own. */
  readonly executable: string;
  readonly isCompiled: boolean;
  readonly isRoot: boolean;
  readonly say: (line: string) => void;
}

interface ServiceOptions {
  /** Only says what would be done. */
  readonly print: boolean;
  readonly start?: boolean;
}

export async function installService(service: Service, options: ServiceOptions): Promise<void> {
  const { say, root } = service;
  const program = placeOf(service);
  const steps = installSteps(service.executable, program, options.start === true);
  if (options.print) return print(steps).forEach(say);
  refuseElsewhere(service);
  if (existsSync(join(root, packagedUnitFile)))
    throw new Error(
      `the Debian package has installed the service: systemctl enable --now ${basename(serviceName, ".service")}`,
    );
  await perform(steps, service, say);
  say(`The settings are in ${settingsFile}: set BASE_URL there at least.`);
  if (options.start)
    say("It runs. Its log, where a first start prints the administrator's password: journalctl -u corestead");
  else
    say("Then: systemctl start corestead; a first start prints the administrator's password: journalctl -u corestead");
}

/** It leaves what cannot be made again: the settings, the data, the backups and their owner. */
export async function uninstallService(service: Service, options: ServiceOptions): Promise<void> {
  const steps: Step[] = [
    { run: ["systemctl", "disable", "--now", serviceName] },
    { remove: unitFile },
    { run: ["systemctl", "daemon-reload"] },
  ];
  if (options.print) return print(steps).forEach(service.say);
  refuseElsewhere(service);
  if (!existsSync(join(service.root, unitFile)))
    throw new Error(
      existsSync(join(service.root, packagedUnitFile))
        ? "the Debian package has installed the service: apt remove corestead"
        : "there is no service of `corestead service install`",
    );
  await perform(steps, service, service.say);
  service.say(`${settingsFile}, ${stateFolder} and ${backupFolder} stay, and so does the user ${serviceUser}.`);
}

function installSteps(executable: string, program: string, start: boolean): Step[] {
  const owner = `${serviceUser}:${serviceUser}`;
  const user = ["useradd", "--system", "--user-group", "--home-dir", stateFolder, "--no-create-home"];
  return [
    ...(program === executable ? [] : [{ copy: executable, to: program, mode: 0o755 }]),
    { run: [...user, "--shell", "/usr/sbin/nologin", serviceUser], unless: serviceUser },
    { run: ["install", "-d", "-o", serviceUser, "-g", serviceUser, "-m", "0700", stateFolder, backupFolder] },
    { write: settingsFile, text: settingsText, mode: 0o640, keep: true },
    // The settings hold passwords.
    { run: ["chown", `root:${serviceUser}`, settingsFile] },
    { link: `${stateFolder}/.env`, to: settingsFile },
    { run: ["chown", "--no-dereference", owner, `${stateFolder}/.env`] },
    { write: unitFile, text: unitText(program), mode: 0o644 },
    { run: ["systemctl", "daemon-reload"] },
    { run: ["systemctl", "enable", ...(start ? ["--now"] : []), serviceName] },
  ];
}

/** The service sees no home folders, and nobody but root may write where it starts. */
function placeOf({ executable }: Service): string {
  return /^\/(usr|opt)\//.test(executable) ? executable : installedExecutable;
}

function refuseElsewhere({ root, isCompiled, isRoot }: Service): void {
  if (process.platform !== "linux" || !existsSync(join(root, "run/systemd/system")))
    throw new Error("systemd does not run here: see `corestead service install --print` for what it would be told");
  if (!isRoot) throw new Error("only root sets up services: sudo corestead service …");
  if (!isCompiled) throw new Error("this is no executable: build one with `bun scripts/build.ts`, and call that");
}

export interface ServiceState {
  readonly isInstalled: boolean;
  /** As systemd calls it, e.g. `active`. */
  readonly active: string;
  /** More exactly, e.g. `running`, or `auto-restart` between two attempts. */
  readonly sub: string;
  readonly enabled: string;
  readonly executable: string;
  readonly folder: string;
  readonly user: string;
}

/** What systemd knows of the service. */
export async function serviceState({ run }: Pick<Machine, "run">): Promise<ServiceState> {
  const names = ["LoadState", "ActiveState", "SubState", "UnitFileState", "ExecStart", "WorkingDirectory", "User"];
  const shown = await run(["systemctl", "show", "--no-pager", `--property=${names.join(",")}`, serviceName]).catch(
    () => ({ code: 1, output: "" }), // there is no systemctl
  );
  const values = new Map(
    shown.output.split("\n").map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]),
  );
  const value = (name: string) => values.get(name) ?? "";
  return {
    isInstalled: shown.code === 0 && value("LoadState") === "loaded",
    active: value("ActiveState"),
    sub: value("SubState"),
    enabled: value("UnitFileState"),
    // { path=/usr/bin/corestead ; argv[]=… }
    executable: /path=([^ ;]+)/.exec(value("ExecStart"))?.[1] ?? "",
    folder: value("WorkingDirectory") || stateFolder,
    user: value("User"),
  };
}

/** Prints it; returns the exit code: 0 if the service runs and answers, 3 as `systemctl status` has it otherwise. */
export async function printStatus(service: Service): Promise<number> {
  const state = await serviceState(service);
  if (!state.isInstalled) {
    service.say("the service is not installed");
    return 4;
  }
  service.say(
    `${serviceName} is ${state.active} and ${state.enabled}; it runs ${state.executable} as ${state.user} in ${state.folder}`,
  );
  const answer = state.active === "active" ? await readiness(settingsOf(join(service.root, state.folder))) : undefined;
  if (answer !== undefined)
    service.say(`${answer.at} ${answer.isReady ? "is ready" : `is not ready: ${answer.reason}`}`);
  return answer?.isReady ? 0 : 3;
}

/** The `.env` of a folder; empty if it is missing or this user may not read it. */
export function settingsOf(folder: string): Readonly<Record<string, string | undefined>> {
  try {
    return parseEnv(readFileSync(join(folder, ".env"), "utf8"));
  } catch {
    return {};
  }
}

const answersWithinMs = 5_000;

/** What a server with these settings answers at /ready. */
export async function readiness(env: Readonly<Record<string, string | undefined>>) {
  const host = env["HOST"]?.trim() || "127.0.0.1";
  const name = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host.includes(":") ? `[${host}]` : host;
  const at = `http://${name}:${env["PORT"]?.trim() || "3000"}/ready`;
  try {
    const { ok, status } = await fetch(at, { signal: AbortSignal.timeout(answersWithinMs) });
    return { at, isReady: ok, reason: `it answers ${status}` };
  } catch (error) {
    return { at, isReady: false, reason: error instanceof Error ? error.message : String(error) };
  }
}
