/** Fields that name files of the media library or people of the account, who must be there. behaviour B.7.28. */
import { invalid, parseExactly, type Queryable } from "platform";
import type { Viewer } from "../access/reach.ts";
import type { Media } from "../../media/api.ts";
import type { Database } from "../databases/database.ts";
import { noTable, type Table } from "../databases/schema.ts";
import { idsIn } from "../links/links.ts";
import * as peopleStore from "../people/store.ts";
import type { Data, Faults } from "./record.ts";

export interface NamedContext {
  readonly media: Pick<Media, "existing" | "sent">;
}

interface Naming {
  readonly name: string;
  readonly format: "file" | "user";
}

const fieldsOf = new WeakMap<Table, readonly Naming[]>();

/** Asked at every write. */
function namingFields(table: Table): readonly Naming[] {
  const known = fieldsOf.get(table);
  if (known) return known;
  const fields = [...table.fields].flatMap(([name, { format }]) =>
    format === "file" || format === "user" ? [{ name, format }] : [],
  );
  fieldsOf.set(table, fields);
  return fields;
}

export function peopleFields(table: Table): readonly string[] {
  return namingFields(table).flatMap(({ name, format }) => (format === "user" ? [name] : []));
}

export function hasNamed({ rules }: Pick<Database, "rules">): boolean {
  return [...rules.tables.values()].some((table) => namingFields(table).length > 0);
}

/** Ids of people are numbers, and so never those of files. */
function idsOf({ name, format }: Naming, data: Data): readonly string[] {
  const value = Object.hasOwn(data, name) ? data[name] : null;
  if (format === "file") return idsIn(value);
  return [value].flat().flatMap((id) => (Number.isSafeInteger(id) ? [String(id)] : []));
}

function namedIn(table: Table, data: Data): string[] {
  return namingFields(table).flatMap((field) => idsOf(field, data));
}

/** The files that a record names. */
export function filesIn(table: Table, data: Data): string[] {
  return namedIn(table, data).filter((id) => !isNumeric(id));
}

/** Who puts files into records; undefined is a program. */
export type Namer = Pick<Viewer, "user" | "privileges"> | "visitor" | undefined;

/** Undefined for whoever may name any file; nobody has the id 0. */
const ownerOf = (who: Namer) =>
  who === "visitor" ? 0 : who === undefined || who.privileges.has("media") ? undefined : who.user.id;

/**
 * Of the files and people that these records name, in whichever of the tables they are, those that there are. Whoever
 * reads the record reads its files, so that without the privilege `media` they are public, or one's own.
 */
export async function namedThere(
  { media }: NamedContext,
  on: Queryable,
  accountId: number,
  tables: Iterable<Table>,
  all: readonly Data[],
  who: Namer,
): Promise<ReadonlySet<string>> {
  const ids = new Set([...tables].flatMap((table) => all.flatMap((data) => namedIn(table, data))));
  const [people, files] = [[...ids].filter(isNumeric), [...ids].filter((id) => !isNumeric(id))];
  return new Set([
    ...(files.length > 0 ? await media.existing(on, accountId, files, ownerOf(who)) : []),
    ...(people.length > 0 ? await peopleStore.active(on, accountId, people) : []),
  ]);
}

const isNumeric = (id: string) => !id.includes("-");

export function namedFaults(table: Table, data: Data, there: ReadonlySet<string>): Faults {
  const unknown = namingFields(table).filter((field) => idsOf(field, data).some((id) => !there.has(id)));
  const said = { file: "is unknown", user: "is no active person of the account" };
  if (unknown.length === 0) return undefined;
  return Object.fromEntries(unknown.map(({ name, format }) => [name, [said[format]]]));
}

interface Asked {
  readonly table: Table;
  readonly data: Data;
  readonly who: Namer;
  /** Those that are known to be there, where many records were looked at together. */
  readonly named?: ReadonlySet<string> | undefined;
  /** The record may come from another table, in which the same field had no files. */
  readonly moves?: boolean;
}
type Stored = Pick<Asked, "table" | "data">;

/** 422 for files and people that there are not, or not for `who`; those that `stored`, the record as it is, has may stay. */
export async function mustBeNamed(
  ctx: NamedContext,
  on: Queryable,
  { accountId }: Pick<Database, "accountId">,
  { table, data, who, named, moves = false }: Asked,
  stored: () => Promise<Stored | undefined> = async () => undefined,
): Promise<void> {
  if (namingFields(table).length === 0) return;
  const was = moves && ownerOf(who) !== undefined ? await stored() : undefined;
  const next = was && was.table.name !== table.name ? { ...was.data, ...data } : data;
  if (namedIn(table, next).length === 0) return;
  if (named && !namedFaults(table, next, named)) return;
  // Defaults are not among those that were looked up together.
  const there = await namedThere(ctx, on, accountId, [table], [next], who);
  if (!namedFaults(table, next, there)) return;
  const kept = was ?? (await stored());
  const faults = namedFaults(table, next, there.union(new Set(kept && namedIn(kept.table, kept.data))));
  if (faults) throw invalid(faults);
}

/** A record in the nested form of print.ts. */
export function storedIn({ tables }: Database["rules"], answer: string): Stored {
  const { data, table_name: name } = parseExactly(answer) as { data: Data; table_name: string | null };
  return { table: tables.get(name ?? "") ?? noTable, data };
}
