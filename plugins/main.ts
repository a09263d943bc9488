/** The program: `bun plugins/main.ts [command]`, or the executable. What it does stands in command-line.ts. */
import { parseArguments } from "../runtime/operations/command/arguments.ts";
import { host } from "#host";
import { ownProgram } from "../runtime/system/process.ts";
import { runUnpack } from "../runtime/system/unpack.ts";
import type { PluginFacts } from "../runtime/plugin/plugin.ts";

const { words, options } = parseArguments(process.argv.slice(2));
const [command = "serve", ...rest] = words;
// All the rest takes longer to read than this needs.
if (command === "unpack") process.exit(await runUnpack(rest));
// Before anything is read: a child knows no settings and no secrets.
if (command === "child") await runPluginChild(...rest);
const serves = command === "serve" && !("help" in options) && !("version" in options);
// Before anything else: it begins the program anew.
if (serves) await host.prepareServer(ownProgram());
// Who adopts a database opens it before that.
const begins = serves && !("adopt" in options);
const begun = begins
  ? await (await import("../runtime/operations/postgres/database.ts")).beginDatabase(process.env)
  : undefined;
const { runCommandLine } = await import("./command-line.ts");
await runCommandLine({ words, options, begun });

/** Loads its own plugin and no other: all of them take four times as long, and more memory. */
async function runPluginChild(plugin = "", name = ""): Promise<never> {
  const withChildren: Readonly<Record<string, () => Promise<{ readonly default: PluginFacts }>>> = {
    apps: () => import("./apps/plugin.ts"),
    flows: () => import("./flows/plugin.ts"),
    jsondb: () => import("./jsondb/plugin.ts"),
    media: () => import("./media/plugin.ts"),
  };
  const { runChild } = await import("../runtime/child/child-main.ts");
  const builtIn = withChildren[plugin];
  if (builtIn) return runChild([(await builtIn()).default], plugin, name);
  const [{ loadExternalPlugins }, { modules }] = await Promise.all([
    import("../runtime/plugin/external.ts"),
    import("./modules.ts"),
  ]);
  return runChild(await loadExternalPlugins(process.env["PLUGINS_DIR"] ?? "", modules), plugin, name);
}
