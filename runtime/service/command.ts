/** The commands of operators that need no database. */
import { realpathSync } from "node:fs";
import { isCompiled } from "../generated.ts";
import { writeOutput } from "../output.ts";
import { installService, printStatus, uninstallService, type Service } from "./service.ts";
import { runOnMachine } from "./steps.ts";

type Options = Readonly<Record<string, string>>;

/** Returns the exit code. */
export async function runService([action = ""]: readonly string[], options: Options): Promise<number> {
  const service: Service = {
    root: "/",
    run: runOnMachine,
    executable: realpathSync(process.execPath),
    isCompiled: isCompiled(),
    isRoot: process.getuid?.() === 0,
    say: (line) => writeOutput(`${line}\n`),
  };
  const print = options["print"] === "true";
  if (action === "install") await installService(service, { print, start: options["start"] === "true" });
  else if (action === "uninstall") await uninstallService(service, { print });
  else if (action === "status") return printStatus(service);
  else throw new Error("which? corestead service install | uninstall | status");
  return 0;
}
