/** The commands of operators that need no database. */
import { realpathSync } from "node:fs";
import manifest from "../../../package.json" with { type: "json" };
import { isCompiled } from "../../system/generated.ts";
import { writeOutput } from "../../system/output.ts";
import { installService, printStatus, uninstallService, type Service } from "../service/service.ts";
import { runOnMachine } from "../service/steps.ts";
import { upgrade } from "../upgrade/upgrade.ts";

const machine = { root: "/", run: runOnMachine, say: (line: string) => writeOutput(`${line}\n`) };

type Options = Readonly<Record<string, string>>;

/** Returns the exit code. */
export async function runUpgrade(options: Options): Promise<number> {
  const { from = "", key = "", backup = "", wait = "600" } = options;
  if (from === "") throw new Error("from which file? corestead upgrade --from FILE");
  if (!/^\d{1,6}$/.test(wait)) throw new Error("--wait takes whole seconds");
  if (!isCompiled()) throw new Error("this is no executable: a checkout is upgraded with git");
  return upgrade({
    ...machine,
    file: from,
    keyFile: key,
    allowDowngrade: options["allow-downgrade"] === "true",
    backupFile: backup,
    current: realpathSync(process.execPath),
    version: manifest.version,
    folder: process.cwd(),
    env: process.env,
    now: new Date(),
    readyWithinMs: Number(wait) * 1000,
  });
}

/** Returns the exit code. */
export async function runService([action = ""]: readonly string[], options: Options): Promise<number> {
  const service: Service = {
    ...machine,
    executable: realpathSync(process.execPath),
    isCompiled: isCompiled(),
    isRoot: process.getuid?.() === 0,
  };
  const print = options["print"] === "true";
  if (action === "install") await installService(service, { print, start: options["start"] === "true" });
  else if (action === "uninstall") await uninstallService(service, { print });
  else if (action === "status") return printStatus(service);
  else throw new Error("which? corestead service install | uninstall | status");
  return 0;
}
