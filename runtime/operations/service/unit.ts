/** The systemd unit and the file of settings: those of the Debian package, for an executable in another place. */
import settings from "../../../packaging/corestead.env" with { type: "text" };
import unit from "../../../packaging/corestead.service" with { type: "text" };
import { host } from "#host";

export const serviceName = "corestead.service";
export const serviceUser = "corestead";
/** The working folder: settings are read from its `.env`, which leads to `settingsFile`. */
export const stateFolder = "/var/lib/corestead";
export const settingsFile = "/etc/corestead/corestead.env";
export const unitFile = `/etc/systemd/system/${serviceName}`;
/** Where a Debian package puts its own. */
export const packagedUnitFile = `/usr/lib/systemd/system/${serviceName}`;

const packagedExecutable = "/usr/bin/corestead";

/** systemd splits the line at blanks and replaces what follows `%` and `$`. */
const plainPath = /^[\w./@+-]+$/;

export function unitText(executable: string): string {
  if (!plainPath.test(executable)) throw new Error(`systemd cannot start ${executable}: take a path of plain letters`);
  return unit
    .replace(`ExecStart=${packagedExecutable} `, `ExecStart=${executable} `)
    .replace(/^Documentation=.*\n/m, "");
}

export const settingsText: string = settings;

/**
 * Tells systemd how the service stands (sd_notify(3)): `await notifyService("READY=1")`. Without systemd nothing
 * happens.
 */
export async function notifyService(state: string): Promise<void> {
  const path = process.env["NOTIFY_SOCKET"];
  if (process.platform === "linux" && path !== undefined && /^[/@]/.test(path)) await host.sendDatagram(path, state);
}
