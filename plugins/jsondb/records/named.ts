/** Fields that name files of the media library or people of the account, who must be there. behaviour B.7.28. */
import { invalid, type Queryable } from "platform";
import type { Media } from "../../media/api.ts";
import type { Database } from "../databases/database.ts";
import type { Table } from "../databases/schema.ts";
import { idsIn } from "../links/links.ts";
import * as peopleStore from "../people/store.ts";
import type { Data, Faults } from "./record.ts";

export interface NamedContext {
  readonly media: Pick<Media, "existing">;
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

/** Of the files and people that these records name, in whichever of the tables they are, those that there are. */
export async function namedThere(
  { media }: NamedContext,
  on: Queryable,
  accountId: number,
  tables: Iterable<Table>,
  all: readonly Data[],
): Promise<ReadonlySet<string>> {
  const ids = new Set([...tables].flatMap((table) => all.flatMap((data) => namedIn(table, data))));
  const [people, files] = [[...ids].filter(isNumeric), [...ids].filter((id) => !isNumeric(id))];
  return new Set([
    ...(files.length > 0 ? await media.existing(on, accountId, files) : []),
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
  /** Those that are known to be there, where many records were looked at together. */
  readonly named?: ReadonlySet<string> | undefined;
}

/** 422 for files and people that there are not; what `stored` gives of the record as it is may stay. */
export async function mustBeNamed(
  ctx: NamedContext,
  on: Queryable,
  { accountId }: Pick<Database, "accountId">,
  { table, data, named }: Asked,
  stored: () => Promise<Data | undefined> = async () => undefined,
): Promise<void> {
  if (namedIn(table, data).length === 0) return;
  if (named && !namedFaults(table, data, named)) return;
  // Defaults are not among those that were looked up together.
  const there = await namedThere(ctx, on, accountId, [table], [data]);
  if (!namedFaults(table, data, there)) return;
  const kept = namedIn(table, (await stored()) ?? {});
  const faults = namedFaults(table, data, there.union(new Set(kept)));
  if (faults) throw invalid(faults);
}
