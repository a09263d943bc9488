import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { withActor } from "../../scope/actor.ts";
import { authorCommands } from "../authors/commands.ts";
import { boot, describe, type App } from "../start/boot.ts";
import { runtimeSettings, type Config } from "../../settings/config.ts";
import { clientModule } from "../openapi/client.ts";
import { attach, mustHaveDatabase, withDatabase } from "./with-database.ts";
import { adopt, backupNow, backupTo, listBackups, restoreAt, restoreFrom, verifyStored } from "./backup-commands.ts";
import { writeOutput } from "../../system/output.ts";
import type { Setup } from "./run.ts";
import type { CommandFacts, PluginFacts } from "../../plugin/plugin.ts";
import { acceptSecretKey } from "../../db/secret-key.ts";

const ownCommands: readonly CommandFacts[] = [
  {
    name: "serve",
    usage: "serve [--https] [--watch] [--rehearsal | --adopt]",
    doc: "start the server (also without a command; --https: as HTTPS=on; --watch: again when a plugin of PLUGINS_DIR changes; --rehearsal: as REHEARSAL=on; --adopt: after `corestead adopt`)",
  },
  { name: "migrate", usage: "migrate", doc: "bring the database up to date and end" },
  {
    name: "backup",
    usage: "backup [FILE]",
    doc: "write the whole database and all files to FILE, or a scheduled backup at once",
  },
  { name: "backups", usage: "backups", doc: "list the scheduled backups" },
  {
    name: "backups verify",
    usage: "backups verify [NAME]",
    doc: "restore a scheduled backup (default: the newest) into a scratch database, to see that it can be",
  },
  {
    name: "restore",
    usage: "restore FILE [--force]",
    doc: "read a file or a scheduled backup back into an empty database (--force: over what is there)",
  },
  {
    name: "restore --at",
    usage: "restore --at [TIME]",
    doc: "bring the embedded PostgreSQL back as it was then, such as 2026-01-31T12:30:00Z, or at the newest moment (BACKUP_WAL)",
  },
  {
    name: "adopt",
    usage: "adopt",
    doc: "a restored or copied database takes the original's place: it runs jobs, sends, and makes its backups in BACKUP_DIR",
  },
  {
    name: "secret-key accept",
    usage: "secret-key accept",
    doc: "use the secret key that is here from now on: the right one is lost",
  },
  { name: "client", usage: "client [FILE]", doc: "print a typed client of the API (TypeScript), or write it to FILE" },
  {
    name: "doctor",
    usage: "doctor [--json]",
    doc: "say what is wrong with settings, names, ports, disk, database and proxy, and how to mend it",
  },
  { name: "health", usage: "health", doc: "ask the running server of these settings whether it is up" },
  {
    name: "service",
    usage: "service install [--start] | uninstall | status  [--print]",
    doc: "run as a hardened service of systemd (--print: only say what would be done)",
  },
  {
    name: "upgrade",
    usage: "upgrade --from FILE [--key FILE] [--backup FILE] [--wait SECONDS] [--allow-downgrade]",
    doc: "put another version in place, after a backup, and go back if it does not come up",
  },
  { name: "plugins", usage: "plugins", doc: "list the plugins" },
  { name: "version", usage: "version", doc: "which version this is" },
  { name: "help", usage: "help", doc: "this text" },
];

const usageWidth = 24;

/** The text of `corestead help`. */
export function usage(plugins: readonly PluginFacts[]): string {
  return `${commandList(plugins)}

Settings are environment variables, or lines of a file .env:

${settingList(plugins)}`;
}

function commandList(plugins: readonly PluginFacts[]): string {
  const line = ({ usage: how, doc }: CommandFacts) =>
    how.length <= usageWidth ? `  ${how.padEnd(usageWidth)}  ${doc}` : `  ${how}\n  ${" ".repeat(usageWidth)}  ${doc}`;
  const lines = allCommands(plugins).map(line);
  return `corestead [command]

${lines.join("\n")}`;
}

/** What the runtime and the plugins read. */
function settingList(plugins: readonly PluginFacts[]): string {
  const settings = [runtimeSettings, ...plugins.map(({ config }) => config)].flatMap((declared) =>
    Object.values(declared),
  );
  const width = Math.max(...settings.map(({ env }) => env.length));
  return settings
    .map(({ env, doc, standard }) => `  ${env.padEnd(width)}  ${doc}${standard && ` (default: ${standard})`}`)
    .join("\n");
}

/** Throws if there is no such command, before anything is started or written. */
export function checkCommand(words: readonly string[], plugins: readonly PluginFacts[]): void {
  if (allCommands(plugins).some(({ name }) => isNamed(words, name))) return;
  throw new Error(`there is no command "${words.join(" ")}"\n\n${commandList(plugins)}`);
}

function allCommands(plugins: readonly PluginFacts[]): readonly CommandFacts[] {
  return [...ownCommands, ...authorCommands, ...plugins.flatMap(({ commands }) => commands ?? [])];
}

/** Whether the words begin with those of this name. */
function isNamed(words: readonly string[], name: string): boolean {
  return words.slice(0, name.split(" ").length).join(" ") === name;
}

/** Runs a command other than `serve`; returns the exit code. */
export async function runCommand(
  setup: Setup,
  words: readonly string[],
  options: Readonly<Record<string, string>>,
): Promise<number> {
  const [command, argument] = words;
  if (command === "plugins") return say(setup.plugins.map(({ name }) => name));
  if (command === "health") return say([await askHealth(setup.config)]);
  // With `--dbs` it is the command of the plugin that has the databases.
  if (command === "client" && options["dbs"] === undefined) {
    const text = clientModule(await describe(setup)); // needs no database
    return say(argument === undefined ? [text.trimEnd()] : await written(argument, text));
  }
  if (needsDatabase(words, setup.plugins)) mustHaveDatabase(setup);
  if (command === "backup") return say(await (argument === undefined ? backupNow(setup) : backupTo(setup, argument)));
  if (isNamed(words, "backups verify")) return say(await verifyStored(setup, words[2]));
  if (command === "backups") return say(await listBackups(setup));
  const { at } = options;
  if (command === "adopt") return say(await adopt(setup, await attach(setup)));
  if (command === "restore" && at !== undefined && argument !== undefined)
    throw new Error("either a file is restored, or a moment (--at)");
  if (command === "restore" && at !== undefined) return say(await restoreAt(setup, at === "true" ? undefined : at));
  if (command === "restore")
    return say(await restoreFrom(setup, required(argument, command), options["force"] === "true"));
  if (isNamed(words, "secret-key accept"))
    return say(await withDatabase(setup, await attach(setup), async (sql) => acceptSecretKey(sql, setup.config)));
  if (command === "migrate") return withApp(setup, async () => ["the database is up to date"]);
  return withApp(setup, async (app) => {
    const found = app.commands.find(({ name }) => isNamed(words, name));
    if (!found) throw new Error(`no plugin does what it declares: "${words.join(" ")}"`);
    const actor = () => ({ kind: "command", command: found.name }) as const;
    const lines = await withActor(actor, () => found.run(options, words.slice(found.name.split(" ").length)));
    return command === "client" && argument !== undefined ? written(argument, `${lines.join("\n")}\n`) : lines;
  });
}

/** Whether there is nothing to do, and nothing must be made, where there is no database. */
function needsDatabase(words: readonly string[], plugins: readonly PluginFacts[]): boolean {
  return (
    ["backup", "adopt", "secret-key accept"].some((name) => isNamed(words, name)) ||
    plugins.some(({ commands = [] }) => commands.some(({ name, reads }) => reads === true && isNamed(words, name)))
  );
}

function required(file: string | undefined, command: string): string {
  if (!file) throw new Error(`which file? corestead ${command} FILE`);
  return file;
}

async function written(file: string, text: string): Promise<readonly string[]> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
  return [`wrote ${file}`];
}

/** Starts the plugins on the database (a server may be running on it), passes them to `run`, and closes both. */
async function withApp(setup: Setup, run: (app: App) => Promise<readonly string[]>): Promise<number> {
  const database = await attach(setup);
  try {
    const { config, env, plugins, log } = setup;
    const { target } = database;
    const app = await boot({ config, env, plugins, target, log, role: "command", solo: false, announce: say });
    try {
      return say(await run(app));
    } finally {
      await app.stop();
    }
  } finally {
    await database.stop();
  }
}

function say(lines: readonly string[]): number {
  for (const line of lines) writeOutput(`${line}\n`);
  return 0;
}

// `corestead health`: for the health checks of containers, whose images have no curl.

const patienceMs = 4_000;
const everywhere: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "::": "[::1]" };

/** What the server of these settings answers at /health. Rejects if it is not up. */
export async function askHealth({ host, port }: Pick<Config, "host" | "port">): Promise<string> {
  const plain = host.includes(":") ? `[${host}]` : host;
  const url = `http://${everywhere[host] ?? plain}:${port}/health`;
  const answer = await fetch(url, { signal: AbortSignal.timeout(patienceMs), redirect: "manual" }).catch(
    (cause: unknown) => {
      throw new Error(`nobody answers at ${url}`, { cause });
    },
  );
  if (answer.status !== 200) throw new Error(`${url} answers ${answer.status}`);
  return "the server is up";
}
