/** The command line: `corestead serve|migrate|token|user|account|backup|restore|doctor|plugins|types|version|help`. */
import { plugins as builtIn } from "./index.ts";
import { modules } from "./modules.ts";
import type { Arguments } from "../runtime/operations/command/arguments.ts";
import { authorCommand } from "../runtime/operations/authors/commands.ts";
import { checkCommand, runCommand, usage } from "../runtime/operations/command/commands.ts";
import { versionText } from "../runtime/plugin/facts.ts";
import { checkSettingNames, checkSettings, readConfig } from "../runtime/settings/config.ts";
import type { StartingDatabase } from "../runtime/operations/postgres/database.ts";
import { loadExternalPlugins } from "../runtime/plugin/external.ts";
import { flushLogs, processLog } from "../runtime/system/log.ts";
import { writeErrors, writeOutput, written } from "../runtime/system/output.ts";
import { serve, serveWorker, type Setup } from "../runtime/operations/command/run.ts";
import { hasDatabase } from "../runtime/operations/command/with-database.ts";
import { ConfigError } from "../runtime/settings/settings.ts";

interface CommandLineOptions extends Arguments {
  /** Where it is to serve: what is starting already. */
  readonly begun: StartingDatabase | undefined;
}

/** Does what it says and sets the exit code; what goes wrong is one line on standard error. */
export async function runCommandLine(commandLine: CommandLineOptions): Promise<void> {
  const code = await run(commandLine).catch((error: unknown) => {
    flushLogs(); // what led to it comes first
    const lines = error instanceof ConfigError ? error.mistakes : [explain(error)];
    for (const line of lines) writeErrors(`corestead: ${line}\n`);
    return failed;
  });
  flushLogs();
  await written();
  // A timer that a plugin forgot must not keep the process when all is stopped.
  if (code === failed || ["serve", "worker"].includes(commandOf(commandLine))) process.exit(code);
  process.exitCode = code;
}

const failed = 1;

function commandOf({ words }: CommandLineOptions): string {
  return words[0] ?? "serve";
}

async function run(commandLine: CommandLineOptions): Promise<number> {
  const { words, options, begun } = commandLine;
  const command = commandOf(commandLine);
  if (command === "help" || "help" in options) {
    writeOutput(`${usage(builtIn)}\n`);
    return 0;
  }
  if (command === "version" || "version" in options) {
    writeOutput(`${versionText}\n`);
    return 0;
  }
  const forAuthors = authorCommand(words);
  if (forAuthors) {
    const rest = words.slice(forAuthors.name.split(" ").length);
    return forAuthors.run(rest, options, { names: builtIn.map(({ name }) => name), modules });
  }
  if (command === "service") {
    const { runService } = await import("../runtime/operations/command/machine.ts");
    return runService(words.slice(1), options);
  }
  if (command === "upgrade") return (await import("../runtime/operations/command/machine.ts")).runUpgrade(options);
  // Wrong settings are what it reports.
  if (command === "doctor") {
    const { runDoctor } = await import("../runtime/operations/doctor/doctor.ts");
    return runDoctor(
      { env: process.env, builtIn, modules, folder: process.cwd() },
      { json: options["json"] === "true" },
    );
  }
  // Server processes of this one inherit it.
  if (command === "serve" && "https" in options) process.env["HTTPS"] = "on";
  if (command === "serve" && "rehearsal" in options) process.env["REHEARSAL"] = "on";
  const setup = await readSetup().catch(async (error: unknown) => {
    await begun?.database.then(({ stop }) => stop()).catch(() => {});
    throw error;
  });
  if (command === "serve" && "adopt" in options && hasDatabase(setup)) await runCommand(setup, ["adopt"], {});
  if (command === "serve") return serve({ ...setup, watch: watched(setup, options) }, begun);
  if (command === "worker") return serveWorker(setup);
  checkCommand(words, setup.plugins);
  return runCommand(setup, words, options);
}

/** `--watch` */
function watched({ config }: Setup, options: Readonly<Record<string, string>>): boolean {
  if (!("watch" in options)) return false;
  if (config.pluginsDir === "") throw new ConfigError(["--watch follows the plugins of PLUGINS_DIR, which is not set"]);
  return true;
}

async function readSetup(): Promise<Setup> {
  const config = readConfig(process.env, builtIn);
  const log = processLog(config);
  const external = await loadExternalPlugins(config.pluginsDir, modules);
  checkSettingNames(builtIn, external);
  checkSettings(external, process.env);
  return { config, env: process.env, plugins: [...builtIn, ...external], log };
}

/** An error and its causes in one line. */
function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause ? `${error.message}: ${explain(error.cause)}` : error.message;
}
