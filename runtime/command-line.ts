/** The command line: `corestead serve|migrate|token|user|account|backup|restore|plugins|types|version|help`. */
import { plugins as builtIn } from "../plugins/index.ts";
import { modules } from "../plugins/modules.ts";
import type { Arguments } from "./arguments.ts";
import { authorCommand } from "./authors/commands.ts";
import { runChild } from "./child-main.ts";
import { checkCommand, runCommand, usage, versionText } from "./commands.ts";
import { checkSettingNames, checkSettings, readConfig } from "./config.ts";
import type { Begun } from "./database.ts";
import { loadExternalPlugins } from "./external.ts";
import { createLog } from "./log.ts";
import { serve, serveWorker, type Setup } from "./run.ts";
import { ConfigError } from "./settings.ts";

interface Given extends Arguments {
  /** Where it is to serve: what is starting already. */
  readonly begun: Begun | undefined;
}

/** Does what it says and sets the exit code; what goes wrong is one line on standard error. */
export async function runCommandLine(given: Given): Promise<void> {
  try {
    process.exitCode = await run(given);
  } catch (error) {
    if (error instanceof ConfigError) for (const line of error.mistakes) process.stderr.write(`corestead: ${line}\n`);
    else process.stderr.write(`corestead: ${explain(error)}\n`);
    process.exit(1);
  }
}

async function run({ words, options, begun }: Given): Promise<number> {
  const command = words[0] ?? "serve";
  if (command === "help" || "help" in options) {
    process.stdout.write(`${usage(builtIn)}\n`);
    return 0;
  }
  if (command === "version" || "version" in options) {
    process.stdout.write(`${versionText}\n`);
    return 0;
  }
  // Before anything is read: a child knows no settings and no secrets.
  if (command === "child")
    return runChild(
      [...builtIn, ...(await loadExternalPlugins(process.env["PLUGINS_DIR"] ?? "", modules))],
      words[1],
      words[2],
    );
  const forAuthors = authorCommand(words);
  if (forAuthors) {
    const rest = words.slice(forAuthors.name.split(" ").length);
    return forAuthors.run(
      rest,
      options,
      builtIn.map(({ name }) => name),
    );
  }
  const setup = await readSetup().catch(async (error: unknown) => {
    await begun?.database.then(({ stop }) => stop()).catch(() => {});
    throw error;
  });
  // A timer that a plugin forgot must not keep the process when all is stopped.
  if (command === "serve") process.exit(await serve(setup, begun));
  if (command === "worker") process.exit(await serveWorker(setup));
  checkCommand(words, setup.plugins);
  return runCommand(setup, words, options);
}

async function readSetup(): Promise<Setup> {
  const config = readConfig(process.env, builtIn);
  const log = createLog(config.logLevel);
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
