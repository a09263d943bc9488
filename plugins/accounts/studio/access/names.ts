/** What people call those who a line of a table's access is for. */
import { lookupChoices, session } from "studio";
import { texts } from "../words.ts";

export function nameOfSubject(to: string, names: ReadonlyMap<string, string>): string {
  const s = texts();
  const fixed: Readonly<Record<string, string>> = {
    admin: s.throughAdmin,
    open: s.throughOpen,
    everyone: s.throughEveryone,
    "role:admin": s.admins,
    "role:manager": s.managers,
    "role:user": s.users,
    "role:guest": s.guests,
  };
  return fixed[to] ?? names.get(to) ?? to;
}

/** By `team:3`, as far as one may see them. */
export async function unitNames(): Promise<ReadonlyMap<string, string>> {
  const lists = (["team", "department", "group"] as const).map(async (kind) => {
    const resource = session.find(`/account/${kind}s`);
    const choices = resource ? await lookupChoices({ resource, field: "id" }) : [];
    return choices.map(({ value, label }) => [`${kind}:${value}`, label] as const);
  });
  const found = await Promise.allSettled(lists);
  return new Map(found.flatMap((one) => (one.status === "fulfilled" ? one.value : [])));
}
