/** Whom a question is for: as a step says it, as it is stored, and who that is now. */
import { HttpError, invalid, type Caller, type User } from "platform";
import type { Accounts } from "../accounts/api.ts";
import type { InboxContext } from "./context.ts";
import * as store from "./store.ts";

const unitKinds = ["team", "department", "group"] as const;
const subject = /^(user|team|department|group):([1-9]\d{0,14})$/;
const role = /^role:(admin|manager|user|guest)$/;

/** Whether it says somebody outside the account, or may. */
export const isOutside = (to: unknown): boolean =>
  [to].flat().some((one) => typeof one === "string" && (one.includes("@") || one.includes("{{")));

/** `user:7`, `team:3`, `role:manager`, an id, a login or an address -> as it is stored. Throws the 422 for nobody. */
export async function subjectsOf(accounts: Accounts, accountId: number, to: unknown): Promise<string[]> {
  const said = [to].flat().flatMap((one) => (typeof one === "string" ? one.split(/[,;]/) : [String(one)]));
  const words = said.map((one) => one.trim()).filter(Boolean);
  if (words.length === 0) throw invalid({ to: ["can't be blank"] });
  if (words.length > mostSaid) throw invalid({ to: [`may name at most ${mostSaid}`] });
  const found = new Set<string>();
  for (const word of words) found.add(await subjectOf(accounts, accountId, word));
  return [...found].map((one) => `${accountId}/${one}`);
}

const mostSaid = 20;

async function subjectOf(accounts: Accounts, accountId: number, word: string): Promise<string> {
  const nobody = () => invalid({ to: [`nobody here is called "${word.slice(0, 60)}"`] });
  if (role.test(word)) return word;
  const [, kind, id = ""] = subject.exec(/^\d+$/.test(word) ? `user:${word}` : word) ?? [];
  const unit = unitKinds.find((one) => one === kind);
  if (unit) {
    if (await accounts.unitExists(accountId, unit, Number(id))) return word;
    throw nobody();
  }
  const person =
    kind === "user" ? await accounts.person(accountId, Number(id)) : await accounts.personByLogin(accountId, word);
  // Somebody who was invited finds the question when they come.
  if (person) return `user:${person.id}`;
  if (!isAddress(word)) throw nobody();
  return `address:${word.toLowerCase()}`;
}

const isAddress = (text: string) => text.length <= 254 && /^[^\s@,;<>"]{1,64}@[^\s@,;<>"]{1,190}$/.test(text);

/** How a question may name this person. */
export function subjectsFor({ id, role: own, teamIds, departmentIds, groupIds }: User, accountId: number): string[] {
  const of = (kind: string, ids: readonly number[]) => ids.map((one) => `${kind}:${one}`);
  const units = [...of("team", teamIds), ...of("department", departmentIds), ...of("group", groupIds)];
  return [`user:${id}`, `role:${own}`, ...units].map((one) => `${accountId}/${one}`);
}

/** `1/user:7` -> `user:7` */
export const shownSubject = (stored: string): string => stored.slice(stored.indexOf("/") + 1);

export const addressesIn = (people: readonly string[]): string[] =>
  people.map(shownSubject).flatMap((one) => (one.startsWith("address:") ? [one.slice("address:".length)] : []));

const mostMails = 50;

/** Who that is now. */
export async function receiversOf({ sql }: InboxContext, accountId: number, stored: readonly string[]) {
  const all = stored.map(shownSubject);
  const ids = (kinds: readonly string[]) =>
    all.flatMap((one) => {
      const [, kind = "", id = ""] = subject.exec(one) ?? [];
      return kinds.includes(kind) ? [Number(id)] : [];
    });
  const roles = all.flatMap((one) => role.exec(one)?.[1] ?? []);
  const wanted = { users: ids(["user"]), roles, units: ids(unitKinds) };
  return store.receivers(sql, accountId, wanted, mostMails);
}

/** The person as a recipient of what is passed on; 422 for anybody that is none here. */
export async function colleague(accounts: Accounts, { account }: Caller, to: string): Promise<string> {
  const [one = "", ...more] = await subjectsOf(accounts, account.id, to);
  if (more.length > 0 || addressesIn([one]).length > 0)
    throw new HttpError(422, { to: ["must be one person, team, department, group or role of this account"] });
  return one;
}
