/** What a database may be saved with: parts without mistakes, and nothing that its author may not use. behaviour B.7. Pure. */
import { forbidden, type Author, type Caller, type Mistakes, type User } from "platform";
import { accessLimits, isConditionOn, parseAccess, renamedAccess } from "../access/access.ts";
import { grantsAt, mayAll, type Viewer } from "../access/reach.ts";
import { rollupsOf } from "../links/rollups.ts";
import { databaseOf, tryOpen, type StoredDatabase } from "./database.ts";
import type { DbFields, DbRow } from "./fields.ts";
import { misspeltVariables } from "./hints.ts";
import {
  parsePublicMethods,
  publicLimits,
  visibleFields,
  type Operation,
  type PublicMethods,
} from "./public-methods.ts";
import { parseSchema, schemaLimits, type Schema } from "./schema.ts";
import type { Rename } from "./renames.ts";

export interface DbAuthor extends Author {
  readonly within?: Caller["within"];
  readonly user: User | { readonly id: number | null };
  /** Null = all of them (a command, another plugin). */
  readonly privileges: ReadonlySet<string> | null;
}

export const isPerson = (user: DbAuthor["user"]): user is User => "role" in user;

/** A database of the account by its code or id. */
type Find = (key: string) => Promise<StoredDatabase | undefined>;

/** 403 if the caller links another app without the privilege `apps`. */
export function mustNameApp({ privileges }: DbAuthor, appId: string | null | undefined, before?: string | null): void {
  if (appId && appId.toLowerCase() !== before && privileges?.has("apps") === false)
    throw forbidden("`app_id`: linking an app needs the privilege `apps`");
}

/**
 * 403 for a link that holds or deletes records of a database of which the caller may not edit all. What was so before
 * stays.
 */
export async function mustHoldTargets(
  find: Find,
  { user, privileges, within }: DbAuthor,
  ownCode: string,
  schema: Schema,
  stored: DbRow | undefined,
): Promise<void> {
  if (!isPerson(user) || privileges === null) return;
  const earlier = parseSchema(stored?.schema, true);
  for (const [name, { fields: all }] of schema.tables)
    for (const [field, { link }] of all) {
      const before = "schema" in earlier ? earlier.schema.tables.get(name)?.fields.get(field)?.link : undefined;
      if (!link || link.onDelete === "clear" || link.db === ownCode) continue;
      if (before?.db === link.db && before.onDelete === link.onDelete) continue;
      const source = await find(link.db);
      const target = source && tryOpen(source, { user, privileges, within });
      if (!target || !grantsAt(target.reach, "edit").some(({ where }) => where.length === 0))
        throw forbidden(
          `\`schema\`: \`on_delete\` of ${field} needs the level \`edit\` for all records of ${link.db.slice(0, 100)}`,
        );
    }
}

interface Expanding {
  readonly code: string;
  readonly schema: Schema;
  readonly methods: PublicMethods;
}

/**
 * 403 for files in a field that had none, without the privilege `media`: what its records have by now would open files
 * that one may not read.
 */
export function mustOpenFiles({ user, privileges }: DbAuthor, schema: Schema, stored: DbRow | undefined): void {
  if (!stored || !isPerson(user) || privileges === null || privileges.has("media")) return;
  const was = databaseOf(stored).schema.tables;
  for (const { name, fields } of schema.tables.values())
    for (const [field, { format }] of fields)
      if (format === "file" && was.get(name)?.fields.get(field)?.format !== "file")
        throw forbidden(`\`schema\`: for files in ${field} you need the privilege \`media\``);
}

/**
 * 422 for paths of `expand` that lead through no link, 403 for those into a database of which the caller may not read
 * everything: a public method shows it to anybody. What was so before stays.
 */
export async function mustReadEnds(
  find: Find,
  { user, privileges, within }: DbAuthor,
  { code, schema, methods }: Expanding,
  stored: DbRow | undefined,
  wrong: Mistakes,
): Promise<void> {
  const linksOf = (of: Schema, name: string) =>
    [...of.tables.values()].flatMap(({ fields: all }) => all.get(name)?.link ?? []);
  const was = stored && databaseOf(stored);
  const isOld = (operation: Operation, path: string) => {
    const [first = ""] = path.split(".");
    const isSame = was && isSameJson(linksOf(was.schema, first), linksOf(schema, first));
    return isSame === true && was?.publicMethods.methods.get(operation)?.expand.includes(path) === true;
  };
  for (const [operation, { expand }] of methods.methods)
    for (const [at, path] of expand.entries()) {
      if (isOld(operation, path)) continue;
      let from = [schema];
      for (const name of path.split(".")) {
        const links = from.flatMap((one) => linksOf(one, name));
        if (links.length === 0) wrong.add("public_methods", `${operation}.expand[${at}]: "${name}" is no link there`);
        from = [];
        for (const { db } of links) {
          const target = db === code ? undefined : await find(db);
          if (db === code) from.push(schema);
          if (!target) continue;
          const isOpen = !isPerson(user) || privileges === null || isReadBy(target, { user, privileges, within });
          if (!isOpen)
            throw forbidden(
              `\`public_methods\`: ${operation}.expand[${at}] needs the level \`read\` for all records of ${db.slice(0, 100)}`,
            );
          from.push(target.whole.schema);
        }
      }
    }
}

/**
 * 403 for a rollup that a public method shows, of a database of which the caller may not read everything. What was so
 * before stays.
 */
export async function mustReadRollups(
  find: Find,
  { user, privileges, within }: DbAuthor,
  { code, schema, methods }: Expanding,
  stored: DbRow | undefined,
): Promise<void> {
  if (!isPerson(user) || privileges === null) return;
  const was = stored && databaseOf(stored);
  const isShown = (of: PublicMethods, name: string) =>
    [...of.methods.keys()].some((one) => one !== "delete" && (visibleFields(of, one)?.has(name) ?? true));
  for (const table of schema.tables.values())
    for (const [name, rollup] of rollupsOf(table)) {
      const before = was?.schema.tables.get(table.name)?.fields.get(name)?.rollup;
      const isOld = was !== undefined && isSameJson(before, rollup) && isShown(was.publicMethods, name);
      if (rollup.db === code || isOld || !isShown(methods, name)) continue;
      const source = await find(rollup.db);
      if (source && !isReadBy(source, { user, privileges, within }))
        throw forbidden(
          `\`public_methods\`: to show ${name} needs the level \`read\` for all records of ${rollup.db.slice(0, 100)}`,
        );
    }
}

function isReadBy(stored: StoredDatabase, viewer: Viewer): boolean {
  const db = tryOpen(stored, viewer);
  return db !== undefined && mayAll(db, "read");
}

/** The grants by the new names of fields. */
export function accessAfter(
  access: DbRow["access"],
  renames: readonly Rename[],
  parsed: ReturnType<typeof parseSchema>,
  wrong: Mistakes,
): DbRow["access"] {
  if (!access || !("schema" in parsed)) return access;
  const tables = [...parsed.schema.tables.values()];
  let grants = access;
  for (const { from, to } of renames) {
    const stays = tables.some(({ fields: all }) => all.has(from));
    if (stays && isConditionOn(grants, from))
      wrong.add(
        "rename",
        `${from}: a \`where\` of \`access\` is about it, and other tables keep it: send \`access\` too`,
      );
    grants = renamedAccess(grants, from, to, !stays);
  }
  return grants;
}

export function checkAccess(access: unknown, schema: Schema, wrong: Mistakes): void {
  const parsed = parseAccess(access, schema);
  if ("mistakes" in parsed) for (const mistake of parsed.mistakes) wrong.add("access", mistake);
  if (JSON.stringify(access ?? null).length > accessLimits.bytes)
    wrong.add("access", `may have at most ${accessLimits.bytes} characters as JSON`);
}

const maxFieldsLength = 1_000_000;

/** Adds the place of each mistake in `schema` and `public_methods`. A stored one has been judged. */
export function checkParts({ schema, public_methods: methods, fields: further }: DbFields, wrong: Mistakes): void {
  const tooLarge = (field: string, value: unknown, most: number) => {
    if (value === undefined || JSON.stringify(value).length <= most) return false;
    wrong.add(field, `may have at most ${most} characters as JSON`);
    return true;
  };
  if (!tooLarge("schema", schema, schemaLimits.bytes)) {
    const parsed = parseSchema(schema);
    if ("mistakes" in parsed) for (const mistake of parsed.mistakes) wrong.add("schema", mistake);
  }
  if (!tooLarge("public_methods", methods, publicLimits.bytes)) {
    const parsed = parsePublicMethods(methods);
    const mistakes = "mistakes" in parsed ? parsed.mistakes : misspeltVariables(methods);
    for (const mistake of mistakes.slice(0, 50)) wrong.add("public_methods", mistake);
  }
  tooLarge("fields", further, maxFieldsLength);
}

export const isSameJson = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);
