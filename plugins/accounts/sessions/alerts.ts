/** Mails people who sign in by a device that they have not used before. No HTTP, no SQL. */
import type { BaseContext, RequestInput } from "platform";
import type { Accounts } from "../api.ts";
import { timeIn, type Mail } from "../../mail/api.ts";
import { deviceOf } from "./device.ts";
import type { DeviceStore } from "./device-store.ts";
import { alertSettings } from "./settings.ts";

interface Needed {
  readonly ctx: Pick<BaseContext, "log" | "transaction">;
  readonly accounts: Pick<Accounts, "access" | "settingsOf">;
  readonly mail: Pick<Mail, "isSetUp" | "send">;
  readonly deviceStore: Pick<DeviceStore, "isNews">;
}

type Asked = Pick<RequestInput, "account" | "request" | "ip">;

/** To be called before a session begins; what it gives, after that. A mail that cannot be queued stops no sign-in. */
export type Alert = (asked: Asked, userId: number) => Promise<() => Promise<void>>;

export function createAlert({ ctx, accounts, mail, deviceStore }: Needed): Alert {
  return async ({ account, request, ip: address }, userId) => {
    const accountId = account.id;
    const { isOn } = await accounts.settingsOf(accountId, alertSettings);
    const person = (await accounts.access(userId))?.user;
    if (!isOn || !person || !(await mail.isSetUp(accountId))) return async () => {};
    const browser = deviceOf(request.headers.get("user-agent")) ?? "–";
    const { name, login, email } = person;
    const time = timeIn(account);

    const tell = () =>
      ctx.transaction(async (tx) => {
        if (!(await deviceStore.isNews(tx, { accountId, userId, device: browser })) || !email) return;
        const values = { name, login, address, browser, time };
        await mail.send({ accountId, to: email, template: "sign_in_alert", values }, tx);
      });
    return () =>
      tell().catch((error: unknown) =>
        ctx.log.warn("nobody was told of a sign-in by a new device", { accountId, userId, error }),
      );
  };
}
