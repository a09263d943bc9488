/** Tells people of sign-ins by new devices, and the log of activity of refusals. No HTTP, no SQL. */
import { currentActor, noticed, type RequestInput } from "platform";
import { timeIn } from "../../mail/api.ts";
import { deviceOf } from "./browser.ts";
import { alertSettings, type SessionsContext } from "./context.ts";
import { isNewDevice } from "./store.ts";

type Signing = Pick<RequestInput, "account" | "request" | "ip">;

/**
 * To be called before a session begins; what it returns, after that. It mails people who sign in by a device that they
 * have not used before. A mail that cannot be queued stops no sign-in.
 */
export async function alertOf(ctx: SessionsContext, { account, request, ip: address }: Signing, userId: number) {
  const { accounts, mail } = ctx;
  const accountId = account.id;
  const { isOn } = await accounts.settingsOf(accountId, alertSettings);
  const person = (await accounts.access(userId))?.user;
  if (!isOn || !person || !(await mail.isSetUp(accountId))) return async () => {};
  const device = deviceOf(request.headers.get("user-agent")) ?? "–";
  const { name, login, email } = person;
  const time = timeIn(account);

  const tell = () =>
    ctx.transaction(async (tx) => {
      if (!(await isNewDevice(tx, { accountId, userId, device })) || !email) return;
      const values = { name, login, address, browser: device, time };
      await mail.send({ accountId, to: email, template: "sign_in_alert", values }, tx);
    });
  return () =>
    tell().catch((error: unknown) =>
      ctx.log.warn("nobody was told of a sign-in by a new device", { accountId, userId, error }),
    );
}

/**
 * Tells the log of activity of a refused sign-in. `who`: a person's id, or what was typed as a login, which is not logged
 * unless it is somebody's: it may be a password. The answer does not wait: it takes the same time for anybody.
 */
export function noteRefused({ accounts, emit, log }: SessionsContext, accountId: number, who: string | number): void {
  const actor = currentActor();
  const note = async () => {
    const userId = typeof who === "number" ? who : await accounts.userIdOf(accountId, who);
    const access = userId === undefined ? undefined : await accounts.access(userId);
    const whom = access && { recordId: `${access.user.id}`, name: access.user.login };
    await emit(noticed, { accountId, action: "sign-in refused", model: "Account::User", ...whom, actor });
  };
  note().catch((error: unknown) => log.warn("a refused sign-in was not noted", { error }));
}
