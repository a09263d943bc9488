/** Fields of the format `file`: what they name must be in the media library. behaviour B.7.28. */
import { invalid, type Queryable } from "platform";
import type { Media } from "../../media/api.ts";
import type { Database } from "../databases/database.ts";
import type { Table } from "../databases/schema.ts";
import { idsIn } from "../links/links.ts";
import type { Data, Faults } from "./record.ts";

export interface FileContext {
  readonly media: Pick<Media, "existing">;
}

const fieldsOf = new WeakMap<Table, readonly string[]>();

/** Asked at every write. */
function fileFields(table: Table): readonly string[] {
  const known = fieldsOf.get(table);
  if (known) return known;
  const fields = [...table.fields].flatMap(([name, { format }]) => (format === "file" ? [name] : []));
  fieldsOf.set(table, fields);
  return fields;
}

export function hasFiles({ rules }: Pick<Database, "rules">): boolean {
  return [...rules.tables.values()].some((table) => fileFields(table).length > 0);
}

function filesIn(table: Table, data: Data): string[] {
  return fileFields(table).flatMap((name) => idsIn(Object.hasOwn(data, name) ? data[name] : null));
}

/** Of the files that these records name, in whichever of the tables they are, those that there are: one query, or none. */
export async function filesThere(
  { media }: FileContext,
  on: Queryable,
  accountId: number,
  tables: Iterable<Table>,
  all: readonly Data[],
): Promise<ReadonlySet<string>> {
  const ids = [...tables].flatMap((table) => all.flatMap((data) => filesIn(table, data)));
  return ids.length === 0 ? new Set() : media.existing(on, accountId, [...new Set(ids)]);
}

export function fileFaults(table: Table, data: Data, there: ReadonlySet<string>): Faults {
  const unknown = fileFields(table).filter((name) =>
    idsIn(Object.hasOwn(data, name) ? data[name] : null).some((id) => !there.has(id)),
  );
  return unknown.length === 0 ? undefined : Object.fromEntries(unknown.map((name) => [name, ["is unknown"]]));
}

interface Asked {
  readonly table: Table;
  readonly data: Data;
  /** Those that are known to be there, where many records were looked at together. */
  readonly files?: ReadonlySet<string> | undefined;
}

/** 422 for files that there are not; what `stored` gives of the record as it is may stay. */
export async function mustBeFiles(
  ctx: FileContext,
  on: Queryable,
  { accountId }: Pick<Database, "accountId">,
  { table, data, files }: Asked,
  stored: () => Promise<Data | undefined> = async () => undefined,
): Promise<void> {
  if (filesIn(table, data).length === 0) return;
  const there = files ?? (await filesThere(ctx, on, accountId, [table], [data]));
  if (!fileFaults(table, data, there)) return;
  const kept = filesIn(table, (await stored()) ?? {});
  const faults = fileFaults(table, data, there.union(new Set(kept)));
  if (faults) throw invalid(faults);
}
