/** Who reaches which table, and how far: worked out of its list of access as the server does. Pure. */
import { isMap, levels, type Level } from "studio/exact";

/** A line of a table's list, with what this page does not show of it. */
export type Grant = Readonly<Record<string, unknown>> & { readonly to: string; readonly may: Level };

export interface Table {
  readonly id: string;
  readonly code: string;
  readonly name: string;
  /** Null: whoever may use tables may do everything. */
  readonly access: readonly Grant[] | null;
  readonly schema: unknown;
}

export interface Reader {
  readonly id: number;
  readonly role: string;
  readonly units: readonly string[];
  /** Whether they may use tables at all: by their role, or by a right of their own. */
  readonly mayUseTables: boolean;
}

export interface Reach {
  readonly may: Level | undefined;
  /** Not all records, or not all fields. */
  readonly isLimited: boolean;
  /** Whom the best lines are for: `user:7`, `team:3`; `admin`, or `open` where the table has no list. */
  readonly through: readonly string[];
}

const nothing: Reach = { may: undefined, isLimited: false, through: [] };

export function reachOf(reader: Reader, { access }: Pick<Table, "access">): Reach {
  if (reader.role === "admin") return { may: "manage", isLimited: false, through: ["admin"] };
  if (!access) return reader.mayUseTables ? { may: "manage", isLimited: false, through: ["open"] } : nothing;
  const names = new Set(["everyone", `role:${reader.role}`, `user:${reader.id}`, ...reader.units]);
  const own = access.filter(({ to }) => names.has(to));
  const best = levels.findLast((level) => own.some(({ may }) => may === level));
  if (!best) return nothing;
  const lines = own.filter(({ may }) => may === best);
  const free = lines.filter((line) => !isLimited(line));
  const through = (free.length > 0 ? free : lines).map(({ to }) => to);
  return { may: best, isLimited: free.length === 0, through };
}

function isLimited({ where, hide }: Grant): boolean {
  return (isMap(where) && Object.keys(where).length > 0) || (Array.isArray(hide) && hide.length > 0);
}

/** What one person has by name. */
export interface OwnGrant {
  readonly may: Level;
  /** Only the records where this field names them. */
  readonly own?: string | undefined;
  readonly hide?: readonly string[];
}

export function ownGrantOf({ access }: Pick<Table, "access">, userId: number): OwnGrant | undefined {
  const line = access?.find(({ to }) => to === `user:${userId}`);
  if (!line) return undefined;
  const [own] = whereOf(line).find(([, value]) => isPerson(value)) ?? [];
  return { may: line.may, own, hide: Array.isArray(line["hide"]) ? line["hide"].map(String) : [] };
}

const whereOf = ({ where }: Grant) => Object.entries(isMap(where) ? where : {});
const isPerson = (value: unknown) => value === "{user_id}" || value === "{user_login}";

/**
 * The list with what a person has by name. A table that has none yet stays open to those who use it: `openTo` are the
 * roles and people who may use tables. `value`: what the field of their own records is compared with.
 */
export function withOwn(
  access: readonly Grant[] | null,
  userId: number,
  grant: OwnGrant | undefined,
  { openTo, value }: { readonly openTo: readonly string[]; readonly value?: string | undefined },
): readonly Grant[] | null {
  if (!access && !grant) return null;
  const before = access ?? openTo.map((to): Grant => ({ to, may: "manage" }));
  const to = `user:${userId}`;
  const others = before.filter((one) => one.to !== to);
  if (!grant) return others;
  const { may, own, hide = [] } = grant;
  if (may === "manage") return [...others, { to, may }];
  const line = before.find((one) => one.to === to);
  const where = (line ? whereOf(line) : []).filter(([, one]) => !isPerson(one));
  if (own !== undefined && value !== undefined) where.unshift([own, value]);
  const narrowed = { ...(where.length > 0 && { where: Object.fromEntries(where) }), ...(hide.length > 0 && { hide }) };
  return [...others, { to, may, ...narrowed }];
}

/** The codes of the other tables that its fields link to, but for those that are hidden. */
export function linksOf({ code, schema }: Table, hide: readonly string[] = []): string[] {
  const { fields, tables }: Readonly<Record<string, unknown>> = isMap(schema) ? schema : {};
  const parts = isMap(tables) ? Object.values(tables).map((one) => (isMap(one) ? one["fields"] : {})) : [fields];
  const all = parts.flatMap((part) => Object.entries(isMap(part) ? part : {})).filter(([name]) => !hide.includes(name));
  const links = all.flatMap(([, field]) => (isMap(field) && typeof field["link"] === "string" ? field["link"] : []));
  return [...new Set(links.map((link) => link.split(".")[0] ?? ""))].filter((link) => link !== code);
}

/** Of a database as the API answers it. */
export function tableOf(db: Readonly<Record<string, unknown>>): Table {
  const { id, code, name, access, schema } = db;
  return {
    id: String(id),
    code: String(code),
    name: String(name || code),
    access: Array.isArray(access) ? access.filter(isMap).map(grantOf) : null,
    schema,
  };
}

function grantOf(line: Readonly<Record<string, unknown>>): Grant {
  return { ...line, to: String(line["to"]), may: levels.find((level) => level === line["may"]) ?? "read" };
}
