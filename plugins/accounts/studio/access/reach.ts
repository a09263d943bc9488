/** Who reaches which table, and how far: worked out of its list of access as the server does. Pure. */
import { isMap } from "studio/exact";

export const levels = ["read", "add", "edit", "manage"] as const;
export type Level = (typeof levels)[number];

/** A line of a table's list, with what this page does not show of it. */
export type Grant = Readonly<Record<string, unknown>> & { readonly to: string; readonly may: Level };

export interface TableField {
  readonly name: string;
  readonly label: string;
  readonly type: string;
  readonly standard: string;
}

export interface Table {
  readonly id: string;
  readonly code: string;
  readonly name: string;
  /** Null: whoever may use tables may do everything. */
  readonly access: readonly Grant[] | null;
  readonly fields: readonly TableField[];
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
  readonly own?: string;
}

export function ownGrantOf({ access }: Pick<Table, "access">, userId: number): OwnGrant | undefined {
  const line = access?.find(({ to }) => to === `user:${userId}`);
  if (!line) return undefined;
  const [field] = Object.entries(isMap(line["where"]) ? line["where"] : {}).find(([, value]) => isPerson(value)) ?? [];
  return { may: line.may, ...(field !== undefined && { own: field }) };
}

const isPerson = (value: unknown) => value === "{user_id}" || value === "{user_login}";

/**
 * The list with what a person has by name. A table that has none yet stays open to those who use it: `openTo` are the
 * roles and people who may use tables.
 */
export function withOwn(
  { access, fields }: Pick<Table, "access" | "fields">,
  userId: number,
  grant: OwnGrant | undefined,
  openTo: readonly string[],
): readonly Grant[] | null {
  if (!access && !grant) return null;
  const before = access ?? openTo.map((to): Grant => ({ to, may: "manage" }));
  const others = before.filter(({ to }) => to !== `user:${userId}`);
  if (!grant) return others;
  const field = fields.find(({ name }) => name === grant.own);
  const where = field && grant.may !== "manage" ? { where: { [field.name]: variableOf(field) } } : {};
  return [...others, { to: `user:${userId}`, may: grant.may, ...where }];
}

/** By what a field names a person: by number, where it holds one or is filled with it. */
function variableOf({ type, standard }: TableField): string {
  return type === "integer" || standard === "{user_id}" ? "{user_id}" : "{user_login}";
}

/** The fields that can say whose a record is, the likeliest first. */
export function personFields(fields: readonly TableField[]): readonly TableField[] {
  const rank = ({ name, label, standard }: TableField) => {
    if (standard === "{user_id}") return 0;
    return /owner|person|user|assigned|author|seller|osoba|właściciel|besitzer/i.test(`${name} ${label}`) ? 1 : 2;
  };
  return fields.filter(({ type }) => type === "string" || type === "integer").toSorted((a, b) => rank(a) - rank(b));
}

/** Of a database as the API answers it. */
export function tableOf(db: Readonly<Record<string, unknown>>, language: string): Table {
  const { id, code, name, access, schema } = db;
  const parts = isMap(schema) && isMap(schema["tables"]) ? Object.values(schema["tables"]) : [schema];
  const fields = parts.flatMap((part) => (isMap(part) && isMap(part["fields"]) ? Object.entries(part["fields"]) : []));
  return {
    id: String(id),
    code: String(code),
    name: String(name || code),
    access: Array.isArray(access) ? access.filter(isMap).map(grantOf) : null,
    fields: [...new Map(fields.map(([field, of]) => [field, fieldOf(field, of, language)])).values()],
  };
}

function grantOf(line: Readonly<Record<string, unknown>>): Grant {
  return { ...line, to: String(line["to"]), may: levels.find((level) => level === line["may"]) ?? "read" };
}

function fieldOf(name: string, of: unknown, language: string): TableField {
  const full = isMap(of) ? of : { type: of };
  const { type, label, default: standard } = full;
  const words = isMap(label) ? (label[language] ?? Object.values(label)[0]) : label;
  return {
    name,
    label: typeof words === "string" && words !== "" ? words : name.replaceAll("_", " "),
    type: String(type),
    standard: typeof standard === "string" ? standard : "",
  };
}
