/** Mails people who sign in by a device that they have not used before. No HTTP, no SQL. */
import type { BaseContext, RequestInput } from "platform";
import type { Accounts } from "../accounts/api.ts";
import type { Mail } from "../mail/api.ts";
import { deviceOf } from "./device.ts";
import type { DeviceStore } from "./device-store.ts";
import { alertSettings } from "./settings.ts";

interface Needed {
  readonly ctx: Pick<BaseContext, "log">;
  readonly accounts: Pick<Accounts, "person" | "settingsOf">;
  readonly mail: Pick<Mail, "isSetUp" | "send">;
  readonly deviceStore: Pick<DeviceStore, "isNews">;
}

type Asked = Pick<RequestInput, "account" | "request" | "ip">;
export type Alert = (asked: Asked, userId: number) => Promise<void>;

/** A mail that cannot be queued stops nobody from signing in. */
export function createAlert({ ctx, accounts, mail, deviceStore }: Needed): Alert {
  const alert: Alert = async ({ account, request, ip: address }, userId) => {
    const accountId = account.id;
    const { isOn } = await accounts.settingsOf(accountId, alertSettings);
    if (!isOn || !(await mail.isSetUp(accountId))) return;
    const device = deviceOf(request.headers.get("user-agent")) ?? "–";
    if (!(await deviceStore.isNews({ accountId, userId, device }))) return;
    const person = await accounts.person(accountId, userId);
    if (!person?.email) return;
    const time = new Intl.DateTimeFormat("sv", { dateStyle: "short", timeStyle: "short", timeZone: account.timezone });
    const values = { name: person.name, login: person.login, address, browser: device, time: time.format() };
    await mail.send({ accountId, to: person.email, template: "sign_in_alert", values });
  };

  return async (asked, userId) => {
    try {
      await alert(asked, userId);
    } catch (error) {
      ctx.log.warn("nobody was told of a sign-in by a new device", { accountId: asked.account.id, userId, error });
    }
  };
}
