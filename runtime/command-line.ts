/** The command line: `corestead serve|migrate|token|user|account|backup|restore|plugins|types|version|help`. */
import { plugins as builtIn } from "../plugins/index.ts";
import { checkSettings, readConfig } from "./config.ts";
import { checkCommand, parseArguments, runCommand, usage, versionText } from "./commands.ts";
import { runChild } from "./child-main.ts";
import { loadExternalPlugins } from "./external.ts";
import { createLog } from "./log.ts";
import { allowManyRequests } from "./request-limit.ts";
import { serve, serveWorker } from "./run.ts";
import { ConfigError } from "./settings.ts";
import { runUnpack } from "./unpack.ts";

async function main(): Promise<number> {
  const { words, options } = parseArguments(process.argv.slice(2));
  const command = words[0] ?? "serve";
  if (command === "help" || "help" in options) {
    process.stdout.write(`${usage(builtIn)}\n`);
    return 0;
  }
  if (command === "version" || "version" in options) {
    process.stdout.write(`${versionText}\n`);
    return 0;
  }
  if (command === "unpack") process.exit(await runUnpack(words.slice(1)));
  // Before anything is read: a child knows no settings and no secrets.
  if (command === "child")
    return runChild([...builtIn, ...(await loadExternalPlugins(process.env["PLUGINS_DIR"] ?? ""))], words[1], words[2]);
  if (command === "serve") await allowManyRequests();
  const config = readConfig(process.env, builtIn);
  const log = createLog(config.logLevel);
  const external = await loadExternalPlugins(config.pluginsDir);
  checkSettings(external, process.env);
  const plugins = [...builtIn, ...external];
  const setup = { config, env: process.env, plugins, log };
  // A timer that a plugin forgot must not keep the process when all is stopped.
  if (command === "serve") process.exit(await serve(setup));
  if (command === "worker") process.exit(await serveWorker(setup));
  checkCommand(words, plugins);
  return runCommand(setup, words, options);
}

try {
  process.exitCode = await main();
} catch (error) {
  if (error instanceof ConfigError) for (const line of error.mistakes) process.stderr.write(`corestead: ${line}\n`);
  else process.stderr.write(`corestead: ${explain(error)}\n`);
  process.exit(1);
}

/** An error and its causes in one line. */
function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause ? `${error.message}: ${explain(error.cause)}` : error.message;
}
