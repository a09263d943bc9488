/** What people call the records at the other end of links: of those that a record has, and of those that a search finds. */
import { get, isMap, mapsIn, textOf, type Choice } from "studio";
import { dbPath, recordAddress, recordPath } from "../paths.ts";
import { chosenTable, draftOf, type FieldDraft, type SchemaDraft, type TableDraft } from "../schema.ts";
import { kindOf, targetOf, titleField, titleIn } from "./kinds.ts";

export interface Title extends Choice {
  readonly address: string;
}

const keptMs = 60_000;
const mostFound = 20;
interface Other {
  readonly name: string;
  readonly schema: SchemaDraft;
}
const kept = new Map<string, { readonly at: number; readonly other: Promise<Other> }>();

/** The name and the schema of another database, asked for once a minute. */
export function otherDb(db: string): Promise<Other> {
  const before = kept.get(db);
  if (before && before.at > Date.now() - keptMs) return before.other;
  const other = get(dbPath(db)).then(({ json }) => {
    const { name, schema } = isMap(json) ? json : {};
    return { name: textOf(name) || db, schema: draftOf(schema) };
  });
  other.catch(() => kept.delete(db));
  kept.set(db, { at: Date.now(), other });
  return other;
}

export async function tableAt(db: string, table: string | undefined): Promise<TableDraft | undefined> {
  return chosenTable((await otherDb(db)).schema, table ?? null);
}

/** Of a flat record of this database. */
export function titleOfFlat(
  record: Readonly<Record<string, unknown>>,
  db: string,
  table: TableDraft | undefined,
): Title {
  const id = textOf(record["id"]);
  const { id: _, created_at: __, updated_at: ___, table_name: ____, ...data } = record;
  return { value: id, label: titleIn(data, table) || id.slice(-6), address: recordAddress(db, id) };
}

export class Titles {
  private all = $state.raw<ReadonlyMap<string, readonly Title[]>>(new Map());

  of(field: string): readonly Title[] {
    return this.all.get(field) ?? [];
  }

  /** Reads those of a record's links; `_version` is what it is read again for. Gives back what ends it. */
  read(db: string, id: string, fields: readonly FieldDraft[], _version: string): (() => void) | undefined {
    const links = fields.filter((field) => kindOf(field) === "link" || kindOf(field) === "links").slice(0, 10);
    if (links.length === 0 || id === "new") return undefined;
    const stop = new AbortController();
    const query = new URLSearchParams({ expand: links.map(({ name }) => name).join(",") });
    get(`${recordPath(db, id)}?${query}`, stop.signal)
      .then(async ({ json }) => {
        const ends = isMap(json) && isMap(json["expand"]) ? json["expand"] : {};
        const read = links.map(async (field) => [field.name, await titlesIn(ends[field.name], field)] as const);
        const all = await Promise.all(read);
        if (!stop.signal.aborted) this.all = new Map(all);
      })
      .catch(() => undefined); // ids do as well
    return () => stop.abort();
  }
}

async function titlesIn(end: unknown, field: FieldDraft): Promise<readonly Title[]> {
  const target = targetOf(field);
  const records = mapsIn([end].flat());
  if (!target || records.length === 0) return [];
  const table = await tableAt(target.db, target.table);
  return records.map((record) => titleOfFlat(record, target.db, table));
}

/** The records of a link's target that hold these words; the newest where there are none. */
export async function findTargets(
  { db, table: name }: { readonly db: string; readonly table: string | undefined },
  typed: string,
  signal: AbortSignal,
): Promise<readonly Title[]> {
  const table = await tableAt(db, name);
  const field = titleField(table);
  const query = new URLSearchParams({ limit: String(mostFound) });
  if (name !== undefined) query.set("table_name", name);
  if (typed.trim() !== "") query.set("q", typed.trim());
  if (typed.trim() !== "" && field !== undefined) query.set("search_in", field);
  const { json } = await get(`/core/dbs/${encodeURIComponent(db)}/search.json?${query}`, signal);
  return mapsIn(json).map((record) => titleOfFlat(record, db, table));
}
