/** Whose records' changes are logged: each account says for which databases. */
import { actorText, setting } from "platform";
import type { Accounts } from "../../accounts/api.ts";
import type { Database } from "../databases/database.ts";

const none = () => false;

/** Only administrators change it: nobody else decides that what they do is not logged. */
export const accountSettings = {
  logged: setting.adminOnly(
    setting.checked(
      "activity_databases",
      "",
      "Codes of the databases whose records' changes are logged, separated by commas; `*` = all",
      loggedIn,
    ),
  ),
};

/** Throws if the text is no list of codes. */
export function loggedIn(text: string): (code: string) => boolean {
  const codes = text.split(",").flatMap((part) => part.trim() || []);
  if (codes.length === 0) return none;
  const wrong = codes.find((code) => code !== "*" && !/^[A-Za-z0-9._-]{1,200}$/.test(code));
  if (wrong !== undefined) throw new Error(`has "${wrong.slice(0, 50)}", which is no code of a database`);
  const all = new Set(codes);
  return (code) => all.has("*") || all.has(code);
}

/** The person or program behind a write, as JSON; undefined if the account does not log writes of this database. */
export async function actorOf(
  { accounts }: { readonly accounts: Pick<Accounts, "settingsOf"> },
  db: Database,
): Promise<string | undefined> {
  const { logged } = await accounts.settingsOf(db.accountId, accountSettings);
  return logged === none || !logged(db.code) ? undefined : (actorText() ?? "{}");
}
