/** Who may do what in a database: its `access`, read and checked. behaviour B.7. Pure. */
import { HttpError, isNumber, isObject, unknownNames, type User } from "platform";
import { ownFields } from "../databases/columns.ts";
import type { Schema, Table } from "../databases/schema.ts";
import { filterLimits, operators, readFilters, type Condition } from "../search/filters.ts";

/** Each may what the ones before it may. */
export const levels = ["read", "add", "edit", "manage"] as const;
export type Level = (typeof levels)[number];

/** What a database gives some people. */
export interface Grant {
  /** `everyone`, `role:user`, `user:7`, `team:3`, `department:2` or `group:4`. */
  readonly to: string;
  readonly may: Level;
  /** The records that it is about: all of them without conditions. Values may be variables. */
  readonly where: readonly Condition[];
  /** Fields that are as if the schema did not have them. */
  readonly hide: ReadonlySet<string>;
}

/** Null opens the database to whoever has the privilege `dbs`. */
export type Access = readonly Grant[] | null;

export const accessLimits = { grants: 50, hidden: 200, bytes: 100_000 } as const;

export function isAtLeast(level: Level, wanted: Level): boolean {
  return levels.indexOf(level) >= levels.indexOf(wanted);
}

/** The grants, or the mistakes in them, each beginning with its place. */
export function parseAccess(value: unknown, schema: Schema): { access: Access } | { mistakes: string[] } {
  if (value === null || value === undefined) return { access: null };
  if (!Array.isArray(value)) return { mistakes: ["must be null or a list of grants"] };
  const mistakes: string[] = [];
  if (value.length > accessLimits.grants) mistakes.push(`may have at most ${accessLimits.grants} grants`);
  const access = value.slice(0, accessLimits.grants).flatMap((given: unknown, at) => {
    const grant = parseGrant(given, schema, (place, message) => void mistakes.push(`[${at}]${place} ${message}`));
    return grant ? [grant] : [];
  });
  return mistakes.length > 0 ? { mistakes: mistakes.slice(0, 50) } : { access };
}

type Say = (place: string, message: string) => void;

function parseGrant(given: unknown, schema: Schema, say: Say): Grant | undefined {
  if (!isObject(given)) {
    say("", "must be an object with `to` and `may`");
    return undefined;
  }
  for (const unknown of unknownNames(Object.keys(given), grantKeys, (name) => `"${name}" is unknown`)) say("", unknown);
  const { to, may, where, hide } = given;
  if (typeof to !== "string" || !isSubject(to))
    say(
      ".to",
      "must be everyone, role:admin, role:manager, role:user, role:guest, user:7, team:3, department:2 or group:4",
    );
  const level = levels.find((one) => one === may);
  if (!level) say(".may", `must be one of ${levels.join(", ")}`);
  const conditions = parseWhere(where, schema, say);
  const hidden = parseHide(hide, schema, say);
  if (level === "manage" && (conditions.length > 0 || hidden.size > 0))
    say(conditions.length > 0 ? ".where" : ".hide", "must be left out of `manage`, which sees and may do everything");
  return { to: String(to), may: level ?? "read", where: conditions, hide: hidden };
}

const grantKeys = ["to", "may", "where", "hide"];
const idSubjects = ["user", "team", "department", "group"];
const roleSubjects = ["role:admin", "role:manager", "role:user", "role:guest"];

function isSubject(to: string): boolean {
  if (to === "everyone" || roleSubjects.includes(to)) return true;
  const [kind = "", id = "", ...more] = to.split(":");
  return idSubjects.includes(kind) && /^[1-9]\d{0,14}$/.test(id) && more.length === 0;
}

function parseHide(hide: unknown, schema: Schema, say: Say): Set<string> {
  if (hide === undefined || hide === null) return new Set();
  if (!Array.isArray(hide)) return (say(".hide", "must be a list of fields"), new Set());
  if (hide.length > accessLimits.hidden) say(".hide", `may name at most ${accessLimits.hidden} fields`);
  const names = hide.slice(0, accessLimits.hidden).flatMap((name: unknown, at) => {
    if (typeof name !== "string" || name === "" || name.length > filterLimits.field)
      say(`.hide[${at}]`, "must be a field");
    else if (ownFields.has(name)) say(`.hide[${at}]`, `${name} cannot be hidden`);
    else return [name.normalize("NFC")];
    return [];
  });
  for (const { fields } of schema.tables.values())
    for (const name of names)
      if (fields.get(name)?.unique) say(".hide", `${name} is unique, so that it tells of the records that have it`);
  return new Set(names);
}

/** `{ status: "open", amount: { lt: 1000 }, team_id: { in: "{team_ids}" } }`, as the filter of a flow's search. */
function parseWhere(where: unknown, schema: Schema, say: Say): Condition[] {
  if (where === undefined || where === null) return [];
  if (!isObject(where)) return (say(".where", "must be an object of field to value"), []);
  const conditions = Object.entries(where).flatMap(([field, value]): Condition[] => {
    const place = `.where.${field.slice(0, 60)}`;
    if (!isObject(value)) return conditionOf(field, "eq", value, (message) => say(place, message));
    if (Object.keys(value).length === 0) say(place, "has no operator");
    return Object.entries(value).flatMap(([given, one]) => {
      const op = operators.find((known) => known === given);
      if (!op) say(`${place}.${given.slice(0, 60)}`, `is no operator: they are ${operators.join(", ")}`);
      return op ? conditionOf(field, op, one, (message) => say(`${place}.${op}`, message)) : [];
    });
  });
  if (Object.keys(where).length === 0) say(".where", "has no condition: leave it out for all records");
  const fixed = conditions.filter(({ value }) => ![value].flat().some(isVariable));
  const mistake = mistakeIn(fixed, [...schema.tables.values()]);
  if (mistake !== undefined) say(".where", mistake);
  return conditions;
}

function conditionOf(field: string, op: Condition["op"], value: unknown, say: (message: string) => void): Condition[] {
  const texts = (Array.isArray(value) ? value : [value]).map(textOf);
  const known = texts.filter((text) => text !== undefined);
  if (known.length < texts.length) return (say("must be a text, a number, true or false"), []);
  const unknown = known.find((text) => isVariable(text) && !isKnown(text));
  if (unknown !== undefined) return (say(`${unknown} is unknown: known are ${variables.join(", ")}`), []);
  const isMany = known.some((text) => listVariables.some((one) => one === text));
  if (isMany && op !== "eq" && op !== "in") return (say("a list of ids is for an exact value, or for `in`"), []);
  if (op === "in" || isMany) return [{ field, op: "in", value: known }];
  if (Array.isArray(value)) return (say("must be one value, a list is for `in`"), []);
  // A value is meant as it is written: whose `*` stands for anything would open more than it seems to.
  const isExact = op === "eq" || op === "ne";
  return [{ field, op, value: known[0] ?? "", ...(isExact && { isPattern: false }) }];
}

function textOf(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  return typeof value === "boolean" || isNumber(value) ? String(value) : undefined;
}

/** A condition that a filter of any table would refuse. */
function mistakeIn(conditions: readonly Condition[], tables: readonly Table[]): string | undefined {
  for (const table of tables) {
    try {
      readFilters(table, conditions);
    } catch (error) {
      if (error instanceof HttpError) return error.message;
      throw error;
    }
  }
  return undefined;
}

const listVariables = ["{team_ids}", "{department_ids}", "{group_ids}"] as const;
const variables = ["{user_id}", "{user_login}", ...listVariables];

function isVariable(text: string): boolean {
  return text.startsWith("{") && text.endsWith("}");
}

function isKnown(text: string): boolean {
  return variables.includes(text);
}

/** Grants as they are stored, by the new name of a field. */
export function renamedAccess<A>(access: readonly A[], from: string, to: string, moves: boolean): A[] {
  return access.map((grant) => {
    if (!isObject(grant)) return grant;
    const { where, hide } = grant;
    const conditions =
      moves && isObject(where) && Object.entries(where).map(([name, one]) => [name === from ? to : name, one]);
    return {
      ...grant,
      ...(conditions && { where: Object.fromEntries(conditions) }),
      // What was told or kept of a record before has the old name.
      ...(Array.isArray(hide) && hide.includes(from) && { hide: [...hide, to] }),
    };
  });
}

export function isConditionOn(access: readonly unknown[], field: string): boolean {
  return access.some((grant) => isObject(grant) && isObject(grant["where"]) && Object.hasOwn(grant["where"], field));
}

// What the grants give one person.

/** A grant as it holds for one person: its variables have values. */
export type OpenGrant = Pick<Grant, "may" | "where" | "hide">;

/** What a grant's `to` may say to mean this person. */
export function subjectsOf({ id, role, teamIds, departmentIds, groupIds }: User): string[] {
  const of = (kind: string, ids: readonly number[]) => ids.map((one) => `${kind}:${one}`);
  const units = [...of("team", teamIds), ...of("department", departmentIds), ...of("group", groupIds)];
  return ["everyone", `role:${role}`, `user:${id}`, ...units];
}

export function grantFor(user: User, { may, where, hide }: Grant): OpenGrant {
  return { may, hide, where: where.map((condition) => ({ ...condition, value: valueFor(user, condition.value) })) };
}

function valueFor(user: User, value: Condition["value"]): Condition["value"] {
  if (typeof value === "string") return variableFor(user, value)?.[0] ?? value;
  return value.flatMap((one) => variableFor(user, one) ?? [one]);
}

function variableFor(user: User, text: string): readonly string[] | undefined {
  const values: Record<string, readonly (string | number)[]> = {
    "{user_id}": [user.id],
    "{user_login}": [user.login],
    "{team_ids}": user.teamIds,
    "{department_ids}": user.departmentIds,
    "{group_ids}": user.groupIds,
  };
  return values[text]?.map(String);
}
