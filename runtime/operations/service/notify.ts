import { host } from "#host";

/**
 * Tells systemd how the service stands (sd_notify(3)): `await notifyService("READY=1")`. Without systemd nothing
 * happens.
 */
export async function notifyService(state: string): Promise<void> {
  const path = process.env["NOTIFY_SOCKET"];
  if (process.platform === "linux" && path !== undefined && /^[/@]/.test(path)) await host.sendDatagram(path, state);
}
