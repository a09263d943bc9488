/** The titles of linked records, read in batches when somebody sees them, and the records that a link may name. */
import { askEarly, get, isMap, mapsIn, session, textOf } from "studio";
import { cellText, rowOf, valueAt } from "../cells.ts";
import { dbPath, peoplePath, recordsPath } from "../paths.ts";
import { chosenTable, draftOf, type SchemaDraft, type TableDraft } from "../schema.ts";
import { say } from "../words.ts";
import { me, people, titleField, type Target } from "./kinds.ts";

const waitMs = 30;
const mostIds = 50;
const mostFound = 20;
const keptMs = 60_000;

export interface Titled {
  readonly id: string;
  readonly title: string;
}

interface Other {
  readonly name: string;
  readonly schema: SchemaDraft;
  readonly access: unknown;
}
const others = new Map<string, { readonly at: number; readonly other: Promise<Other> }>();

/** The name and the schema of another database, asked for once a minute. */
export function otherDb(db: string): Promise<Other> {
  const before = others.get(db);
  if (before && before.at > Date.now() - keptMs) return before.other;
  const other = get(dbPath(db)).then(({ json }) => {
    const { name, schema, access } = isMap(json) ? json : {};
    return { name: textOf(name) || db, schema: draftOf(schema), access };
  });
  other.catch(() => others.delete(db));
  others.set(db, { at: Date.now(), other });
  return other;
}

export async function tableAt({ db, table }: Target): Promise<TableDraft | undefined> {
  return chosenTable((await otherDb(db)).schema, table ?? null);
}

export class Titles {
  private known = $state.raw<ReadonlyMap<string, string>>(new Map());
  private hidden = $state.raw<ReadonlySet<string>>(new Set());
  private readonly db: string;
  private readonly asked = new Set<string>();
  private waiting = new Map<string, { target: Target; ids: Set<string> }>();
  private timer: ReturnType<typeof setTimeout> | undefined;

  /** `db`: whose fields may name people. */
  constructor(db = "") {
    this.db = db;
  }

  /** What stands for a record: its title, or why there is none. */
  nameOf(target: Target, id: string): string {
    return this.of(target, id) || (this.of(target, id) === undefined ? "…" : this.why(target));
  }

  /** Whoever sees everything is told that it is gone. */
  private why(target: Target): string {
    if (target === people) return say("personGone");
    return say(session.person.role === "admin" && !this.isHidden(target) ? "gone" : "notVisible");
  }

  /** Whether the person may read nothing there. */
  isHidden({ db }: Target): boolean {
    return this.hidden.has(db);
  }

  /** Of a look as somebody else: the databases that are closed to them. */
  hide(dbs: readonly string[]): void {
    this.hidden = new Set(dbs);
  }

  /** Undefined until it is read; "" of a record that is gone or hidden. */
  of(target: Target, id: string): string | undefined {
    if (id === me) return say("me");
    const known = this.isHidden(target) ? "" : this.known.get(`${target.db} ${id}`);
    if (known === undefined) this.ask(target, id);
    return known;
  }

  remember({ db }: Target, found: readonly Titled[]): void {
    const next = new Map(this.known);
    for (const { id, title } of found) next.set(`${db} ${id}`, title);
    this.known = next;
  }

  /** Records of the target whose title holds the text, the newest without one. */
  async find(target: Target, typed: string, signal: AbortSignal): Promise<Titled[]> {
    const query = new URLSearchParams({ limit: String(mostFound), ...(typed.trim() !== "" && { q: typed.trim() }) });
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
    await Promise.all(all.map(async ({ target, ids }) => this.readAll(target, [...ids])));
  }

  private async readAll(target: Target, all: readonly string[]): Promise<void> {
    for (let at = 0; at < all.length; at += mostIds) {
      const part = all.slice(at, at + mostIds);
      const ids = part.join(",");
      const query = new URLSearchParams(target === people ? { ids } : { "filter[id][in]": ids, limit: `${mostIds}` });
      const found = await this.read(target, query).catch(() => []);
      this.remember(target, [...part.map((id) => ({ id, title: "" })), ...found]);
    }
  }

  private async read(target: Target, query: URLSearchParams, signal?: AbortSignal): Promise<Titled[]> {
    if (target === people) {
      query.delete("limit");
      const { json } = await get(`${peoplePath(this.db)}?${query}`, signal);
      return mapsIn(json).map(({ id, name }) => ({ id: String(id), title: textOf(name) }));
    }
    if (target.table !== undefined) query.set("table_name", target.table);
    const path = () => `${recordsPath(target.db)}?${query}`;
    // Which field is the title the schema says: the first time both are asked for in one, with all fields.
    const isFirst = !others.has(target.db) && !query.has("q");
    if (isFirst) askEarly([dbPath(target.db), path()]);
    // What it may not read is shown without it.
    const field = await tableAt(target).then(titleField, () => undefined);
    if (isFirst) {
      const { json, headers } = await get(path(), signal);
      if (headers.get("x-next-cursor") === null) return titled(json, field);
    }
    if (field === undefined && !others.has(target.db)) this.hidden = new Set([...this.hidden, target.db]);
    if (field !== undefined) query.set("fields", `id,${field}`);
    if (field !== undefined && query.has("q")) query.set("search_in", field);
    return titled((await get(path(), signal)).json, field);
  }
}

function titled(json: unknown, field: string | undefined): Titled[] {
  const rows = Array.isArray(json) ? json.flatMap((value) => rowOf(value) ?? []) : [];
  return rows.map((row) => {
    const value = field === undefined ? Object.values(row.data)[0] : valueAt(row, field);
    return { id: row.id, title: cellText(value) || row.id.slice(0, 8) };
  });
}
