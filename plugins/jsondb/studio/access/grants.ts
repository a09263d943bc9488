/** Who may do what in a database, as people read and change it: its `access`. The server has the last word. Pure. */
import { isMap, levels, type Level } from "studio/exact";
import type { Operator } from "../conditions.ts";

/** A condition of a row as it is chosen; a value is one that was typed, or a variable. */
export interface RowCondition {
  readonly field: string;
  readonly op: Operator;
  readonly value: string;
}

export interface Grant {
  readonly to: string;
  readonly may: Level;
  readonly where: readonly RowCondition[];
  readonly hide: readonly string[];
}

export const subjectKinds = ["user", "team", "department", "group"] as const;
export type SubjectKind = (typeof subjectKinds)[number];
export const roles = ["admin", "manager", "user", "guest"] as const;

/** The values of a condition that stand for whoever looks. */
export const variables = ["{user_id}", "{user_login}", "{team_ids}", "{department_ids}", "{group_ids}"] as const;
/** Of a record that is the person's own: its field says so, and not a condition among others. */
const ownVariables: readonly string[] = ["{user_id}", "{user_login}"];
const lists: readonly string[] = ["{team_ids}", "{department_ids}", "{group_ids}"];

/** What a condition may compare by; a variable that is a list is only for an exact value. */
export const rowOperators = [
  "eq",
  "ne",
  "gt",
  "gte",
  "lt",
  "lte",
  "in",
  "empty",
  "filled",
] as const satisfies readonly Operator[];

/** Undefined where the database opens to whoever may use tables. */
export function grantsOf(access: unknown): readonly Grant[] | undefined {
  if (!Array.isArray(access)) return undefined;
  return access.flatMap((one: unknown) => (isMap(one) ? [grantOf(one)] : []));
}

/**
 * The most that somebody may do in a database that they see: whoever may not manage it is shown their own grants alone, and
 * one without any is open to those who may use tables.
 */
export function levelOf(access: unknown, isAdmin: boolean): Level {
  const grants = grantsOf(access);
  if (!grants || isAdmin) return "manage";
  return levels.findLast((level) => grants.some(({ may }) => may === level)) ?? "read";
}

export function isAtLeast(level: Level, wanted: Level): boolean {
  return levels.indexOf(level) >= levels.indexOf(wanted);
}

function grantOf({ to, may, where, hide }: Readonly<Record<string, unknown>>): Grant {
  return {
    to: String(to),
    may: levels.find((level) => level === may) ?? "read",
    where: Object.entries(isMap(where) ? where : {}).flatMap(([field, value]) => conditionsOf(field, value)),
    hide: Array.isArray(hide) ? hide.map(String) : [],
  };
}

function conditionsOf(field: string, value: unknown): RowCondition[] {
  const pairs = isMap(value) ? Object.entries(value) : [["eq", value] as const];
  return pairs.map(([op, one]) => {
    const text = Array.isArray(one) ? one.join(", ") : typeof one === "string" ? one : JSON.stringify(one ?? "");
    if (text === "" && (op === "eq" || op === "ne")) return { field, op: op === "eq" ? "empty" : "filled", value: "" };
    return { field, op: rowOperators.find((known) => known === op) ?? "eq", value: text };
  });
}

/** The JSON that is sent. */
export function accessOf(grants: readonly Grant[]): readonly Record<string, unknown>[] {
  return grants.map(({ to, may, where, hide }) => ({
    to,
    may,
    ...(where.length > 0 && { where: whereOf(where) }),
    ...(hide.length > 0 && { hide }),
  }));
}

function whereOf(conditions: readonly RowCondition[]): Record<string, unknown> {
  const byField = Map.groupBy(conditions, ({ field }) => field);
  return Object.fromEntries(
    [...byField].map(([field, its]) => {
      const pairs = its.map(({ op, value }): [string, unknown] => {
        if (op === "empty" || op === "filled") return [op === "empty" ? "eq" : "ne", ""];
        return [op, op === "in" && !isVariable(value) ? value.split(",").map((one) => one.trim()) : value];
      });
      const [first] = pairs;
      return [field, pairs.length === 1 && first?.[0] === "eq" ? first[1] : Object.fromEntries(pairs)];
    }),
  );
}

export function isVariable(value: string): boolean {
  return variables.some((one) => one === value);
}

/** Whether it names nobody's own number where a list is needed, and so on: what a person can choose here. */
export function variablesFor(op: Operator): readonly string[] {
  if (op === "eq" || op === "in") return lists;
  return op === "ne" ? ownVariables : [];
}

/** The condition that a record is the person's own. */
export function ownIn({ where }: Pick<Grant, "where">): RowCondition | undefined {
  return where.find(({ op, value }) => op === "eq" && ownVariables.includes(value));
}

/** The messages of a 422 by the grant that they are about, without their place, and the rest. */
export function faultsOf(messages: readonly string[]): {
  readonly byGrant: ReadonlyMap<number, readonly string[]>;
  readonly others: readonly string[];
} {
  const byGrant = new Map<number, string[]>();
  const others: string[] = [];
  for (const message of messages) {
    const [, at, place = "", said = ""] = /^\[(\d{1,3})\](\S*) (.*)$/s.exec(message) ?? [];
    if (at === undefined) others.push(message);
    else byGrant.set(Number(at), [...(byGrant.get(Number(at)) ?? []), `${nameOfPlace(place)}${said}`]);
  }
  return { byGrant, others };
}

/** `.where.amount.gte` is about the field `amount`. */
function nameOfPlace(place: string): string {
  const [, part, field] = place.split(".");
  if (part !== "where" || field === undefined) return "";
  return `${field}: `;
}

/** A table that was shared with nobody yet stays with whoever shares it. */
export function withGrants(
  grants: readonly Grant[] | undefined,
  subjects: readonly string[],
  may: Level,
  me: number,
): readonly Grant[] {
  const before = grants ?? [{ to: `user:${me}`, may: "manage", where: [], hide: [] } as const];
  const added = subjects.filter((to) => !before.some((one) => one.to === to && one.where.length === 0));
  return [...before, ...added.map((to) => ({ to, may, where: [], hide: [] }))];
}

/** `manage` sees and may do everything: limits would be refused. */
export function withLevel(grant: Grant, may: Level): Grant {
  return may === "manage" ? { ...grant, may, where: [], hide: [] } : { ...grant, may };
}
