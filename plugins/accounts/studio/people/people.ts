/** Teams, departments and groups: who belongs to one, and what of a person changes with it. */

type Row = Readonly<Record<string, unknown>>;

export const unitKinds = ["teams", "departments", "groups"] as const;
export type UnitKind = (typeof unitKinds)[number];

/** `/studio/account/teams/3` -> `teams` */
export function kindOf(address: string): UnitKind {
  const part = address.split("/")[3];
  return unitKinds.find((kind) => kind === part) ?? "teams";
}

const fields = { teams: "team_ids", departments: "department_ids", groups: "group_ids" } as const;

export function idsOf(person: Row, kind: UnitKind): string[] {
  const ids = person[fields[kind]];
  return Array.isArray(ids) ? ids.map(String) : [];
}

/** The fields of a person who is put into a unit, or taken out of it. */
export function membership(person: Row, kind: UnitKind, unit: string, belongs: boolean): Record<string, number[]> {
  const others = idsOf(person, kind).filter((id) => id !== unit);
  return { [fields[kind]]: [...others, ...(belongs ? [unit] : [])].map(Number) };
}

/** Who was added and who was taken away. */
export function moved(before: readonly string[], after: readonly string[]) {
  return {
    added: after.filter((id) => !before.includes(id)),
    removed: before.filter((id) => !after.includes(id)),
  };
}

export const roles = ["admin", "manager", "user", "guest"] as const;
export type Role = (typeof roles)[number];

export function isRole(text: string): text is Role {
  return roles.some((role) => role === text);
}

/** The link of an invitation leads to the page where the person chooses a password. */
export function withReturn(url: string): string {
  const address = new URL(url);
  address.searchParams.set("return_to", "/studio/account/me?invited=1");
  return address.href;
}
