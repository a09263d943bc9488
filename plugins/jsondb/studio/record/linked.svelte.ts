/** The records of other tables that link to one record, and what adds to them. */
import { get, isMap, mapsIn, request, session, textOf } from "studio";
import type { Level } from "studio/exact";
import { levelOf } from "../access/grants.ts";
import { kindOf, lookOf, titleField, titleIn } from "../look/kinds.ts";
import { otherDb, tableAt, type Titled } from "../look/titles.svelte.ts";
import { addressOfRecord, linkedPath, recordPath, tableAddress } from "../paths.ts";
import type { FieldDraft, TableDraft } from "../schema.ts";

type Values = Readonly<Record<string, unknown>>;

export interface LinkedList {
  readonly key: string;
  readonly db: string;
  readonly table: TableDraft | undefined;
  readonly tableName: string | null;
  readonly field: string;
  /** The name of the database, or of its table; with that of the field where another field leads here too. */
  readonly name: string;
  readonly count: number;
  readonly level: Level;
  readonly records: readonly (Titled & { readonly address: string; readonly values: Values })[];
}

/** Of a linked record as many values are shown beside its title. */
const mostValues = 3;
const told = ["choice", "date", "datetime", "money", "yesno", "rating"];

/** What a line shows beside the title: what it is, when, and how much. */
export function lineFields(table: TableDraft | undefined): readonly FieldDraft[] {
  const title = titleField(table);
  const fitting = (table?.fields ?? []).filter((field) => field.name !== title && told.includes(kindOf(field)));
  return told.flatMap((kind) => fitting.find((field) => kindOf(field) === kind) ?? []).slice(0, mostValues);
}

export class Linked {
  lists = $state.raw<readonly LinkedList[]>([]);
  private readonly path: string;
  private readonly words: (name: string) => string;
  private readonly language: () => string;
  private readonly isAdmin = session.person.role === "admin";

  constructor(db: string, id: string, words: (name: string) => string, language: () => string) {
    this.path = linkedPath(db, id);
    this.words = words;
    this.language = language;
  }

  async read(signal?: AbortSignal): Promise<void> {
    const { json } = await get(this.path, signal);
    const found = mapsIn(json);
    const lists = await Promise.all(found.map((one) => this.listOf(one, found)));
    if (!signal?.aborted) this.lists = lists;
  }

  private async listOf(one: Values, all: readonly Values[]): Promise<LinkedList> {
    const [db, field] = [textOf(one["db_code"]), textOf(one["field"])];
    const tableName = typeof one["table_name"] === "string" ? one["table_name"] : null;
    const target = { db, table: tableName ?? undefined };
    const [{ name, access }, table] = [await otherDb(db), await tableAt(target)];
    const own = tableName === null ? name : this.words(tableName);
    const isAlone = all.filter((other) => other["db_code"] === db && other["table_name"] === tableName).length === 1;
    const draft = table?.fields.find((known) => known.name === field);
    const label = draft ? lookOf(draft, this.language(), this.words).label : this.words(field);
    return {
      key: JSON.stringify([db, tableName, field]),
      db,
      table,
      tableName,
      field,
      name: isAlone ? own : `${own} · ${label}`,
      count: Number(one["count"]),
      level: levelOf(access, this.isAdmin),
      records: mapsIn(one["records"]).map((values) => {
        const id = textOf(values["id"]);
        const { id: _, created_at: __, updated_at: ___, table_name: ____, ...data } = values;
        return { id, title: titleIn(data, table) || id.slice(-6), address: addressOfRecord(target, id), values };
      }),
    };
  }
}

/** A record there links here from now on, beside what a list of links has already. Gives back what takes it back. */
export async function linkTo(list: LinkedList, other: string, id: string): Promise<() => Promise<void>> {
  const path = recordPath(list.db, other);
  const { json, headers } = await get(path);
  const data = isMap(json) && isMap(json["data"]) ? json["data"] : {};
  const before = data[list.field] ?? null;
  const isMany = list.table?.fields.find(({ name }) => name === list.field)?.type === "list";
  const after = isMany ? [...(Array.isArray(before) ? before : []).filter((one) => one !== id), id] : id;
  const write = (value: unknown, ifMatch?: string) =>
    request("PATCH", `${path}?keep_table=true`, { body: { record: { data: { [list.field]: value } } }, ifMatch });
  const saved = await write(after, headers.get("etag") ?? undefined);
  const tag = saved.headers.get("etag") ?? undefined;
  return async () => void (await write(before, tag));
}

/** All that link to a record by a field. */
export function linkedAddress({ db, tableName, field }: LinkedList, id: string): string {
  const query = new URLSearchParams();
  if (tableName !== null) query.set("table", tableName);
  query.set(`filter[${field}]`, id);
  return `${tableAddress(db)}?${query}`;
}
