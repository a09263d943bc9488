/** The titles of linked records, read in batches when somebody sees them, and the records that a link may name. */
import { get, isMap } from "studio";
import { cellText, rowOf, valueAt } from "../cells.ts";
import { dbPath, recordsPath } from "../paths.ts";
import { draftOf, type TableDraft } from "../schema.ts";
import type { Target } from "./kinds.ts";

const waitMs = 30;
const mostIds = 50;
const mostFound = 20;

export interface Titled {
  readonly id: string;
  readonly title: string;
}

/** The field that a person knows a record by: the schema says it, else it is the first text. */
export function titleField(table: TableDraft | undefined): string | undefined {
  const said = table?.more?.["title_field"];
  if (typeof said === "string") return said;
  return (table?.fields.find(({ type, more }) => type === "string" && !more?.["link"]) ?? table?.fields[0])?.name;
}

export class Linked {
  private titles = $state.raw<ReadonlyMap<string, string>>(new Map());
  private readonly fields = new Map<string, Promise<string | undefined>>();
  private readonly asked = new Set<string>();
  private waiting = new Map<string, { target: Target; ids: Set<string> }>();
  private timer: ReturnType<typeof setTimeout> | undefined;

  /** Undefined until it is read; "" of a record that is gone or hidden. */
  titleOf(target: Target, id: string): string | undefined {
    const known = this.titles.get(`${target.db} ${id}`);
    if (known === undefined) this.ask(target, id);
    return known;
  }

  remember(target: Target, { id, title }: Titled): void {
    this.titles = new Map(this.titles).set(`${target.db} ${id}`, title);
  }

  /** Records of the target that match, the newest without a text. */
  async find(target: Target, text: string, signal: AbortSignal): Promise<Titled[]> {
    const query = new URLSearchParams({ limit: String(mostFound), ...(text.trim() !== "" && { q: text.trim() }) });
    return this.read(target, query, signal);
  }

  close(): void {
    clearTimeout(this.timer);
  }

  private ask(target: Target, id: string): void {
    const key = `${target.db} ${id}`;
    if (this.asked.has(key)) return;
    this.asked.add(key);
    const waiting = this.waiting.get(target.db) ?? { target, ids: new Set<string>() };
    waiting.ids.add(id);
    this.waiting.set(target.db, waiting);
    this.timer ??= setTimeout(() => void this.flush(), waitMs);
  }

  private async flush(): Promise<void> {
    this.timer = undefined;
    const all = [...this.waiting.values()];
    this.waiting = new Map();
    await Promise.all(all.map(async ({ target, ids }) => this.readTitles(target, [...ids])));
  }

  private async readTitles(target: Target, ids: readonly string[]): Promise<void> {
    for (let at = 0; at < ids.length; at += mostIds) {
      const part = ids.slice(at, at + mostIds);
      const query = new URLSearchParams({ "filter[id][in]": part.join(","), limit: String(mostIds) });
      const found = await this.read(target, query).catch(() => []);
      const next = new Map(this.titles);
      for (const id of part) next.set(`${target.db} ${id}`, "");
      for (const { id, title } of found) next.set(`${target.db} ${id}`, title);
      this.titles = next;
    }
  }

  private async read(target: Target, query: URLSearchParams, signal?: AbortSignal): Promise<Titled[]> {
    if (target.table !== undefined) query.set("table_name", target.table);
    const field = await this.fieldOf(target);
    if (field !== undefined) query.set("fields", `id,${field}`);
    const { json } = await get(`${recordsPath(target.db)}?${query}`, signal);
    const rows = Array.isArray(json) ? json.flatMap((value) => rowOf(value) ?? []) : [];
    return rows.map((row) => {
      const value = field === undefined ? Object.values(row.data)[0] : valueAt(row, field);
      return { id: row.id, title: cellText(value) || row.id.slice(0, 8) };
    });
  }

  private fieldOf({ db, table }: Target): Promise<string | undefined> {
    const key = `${db} ${table ?? ""}`;
    const known =
      this.fields.get(key) ??
      get(dbPath(db)).then(
        ({ json }) => {
          const { tables } = draftOf(isMap(json) ? json["schema"] : null);
          return titleField(table === undefined ? tables[0] : tables.find(({ name }) => name === table));
        },
        () => undefined, // what it may not read is shown without it
      );
    this.fields.set(key, known);
    return known;
  }
}
