/**
 * The records of a list, as far as somebody has looked at them: pages by the API's cursor, or by an offset where one jumps.
 * Changes by others are followed: a changed row says so where it is, and new ones wait until they are asked for.
 */
import {
  ApiError,
  connection,
  followEvents,
  get,
  isMap,
  mapsIn,
  messageOf,
  outlast,
  ownOf,
  parseJson,
  request,
  same,
  session,
  text,
  toasts,
} from "studio";
import { cellText, rowOf, valueAt, type Row } from "../cells.ts";
import type { PasteOperation } from "../grid.ts";
import type { Look } from "../look/kinds.ts";
import {
  batchPath,
  countPath,
  eventsPath,
  linkedPath,
  pageSize,
  recordAddress,
  recordPath,
  recordsPath,
  restorePath,
} from "../paths.ts";
import { say, texts } from "../words.ts";
import type { GroupValue } from "./groups.ts";

const mostPages = 40;
const mostAtOnce = 2;
const flushMs = 150;
/** A count reads the whole table: who goes on to another order or filter meanwhile needs none. */
const countAfterMs = 300;
const mostAttempts = 3;
const mostIds = 50;

/** `next` is the cursor of the next page, if there may be one. */
interface ReadPage {
  readonly rows: readonly Row[];
  readonly next: string | null;
}

export interface FieldChange {
  readonly id: string;
  readonly field: string;
  readonly value: unknown;
  /** What the field had before. */
  readonly seen: unknown;
}

export type Change = "update" | "destroy" | "unsaved";

/** The panel of a new record; lines that the server does not have yet have ids that begin with it. */
export const newId = "new";
export const isNew = (id: string) => id.startsWith(newId);

export class Rows {
  pages = $state.raw<ReadonlyMap<number, readonly Row[]>>(new Map());
  /** Records that were added at the end stay there until the list is read again. */
  added = $state.raw<readonly Row[]>([]);
  /** How many there are: of the last page, else as the server has counted. */
  end = $state<number | undefined>();
  total = $state<number | undefined>();
  problem = $state("");
  loading = $state(0);
  changed = $state.raw<ReadonlyMap<string, Change>>(new Map());
  /** Records that others have made since. */
  fresh = $state(0);
  /** How many changes were told of. */
  heard = $state(0);
  /** Who has a record open, as somebody last came or left. */
  present = $state.raw<unknown>();
  /** Of a group: its field and value, and whether its records are shown. */
  head: { readonly look: Look; readonly value: GroupValue } | undefined;
  isOpen = $state(true);
  /** The field that names a record. */
  nameField: string | undefined;
  readonly db: string;
  /** The query of the list: table, phrase, filters and order. */
  readonly query: URLSearchParams;
  /** The server changes many records for somebody: their rows are not marked one by one. */
  isChanging = false;
  private readonly cursors = new Map<number, string>();
  private readonly underWay = new Set<number>();
  private stale = new Set<number>();
  private generation = 0;
  private seen = { first: 0, end: pageSize };
  protected stop = new AbortController();
  private counting: ReturnType<typeof setTimeout> | undefined;
  private readonly counts: Map<string, number>;
  private own = new Set<string>();

  /** `counts` keeps what was counted for the next list, which may differ in its order only. */
  constructor(db: string, query: URLSearchParams, counts: Map<string, number>) {
    this.db = db;
    this.query = query;
    this.counts = counts;
    this.total = counts.get(this.matching);
  }

  /** The query without its order. */
  get matching(): string {
    const query = new URLSearchParams(this.query);
    query.delete("sort");
    return query.toString();
  }

  /** As many as the grid is high: at first one page more than is known. */
  get count(): number {
    return this.known + this.added.length;
  }

  /** How many match, if that is known. */
  get size(): number | undefined {
    const size = this.end ?? this.total;
    return size === undefined ? undefined : size + this.added.filter(({ id }) => !isNew(id)).length;
  }

  protected get known(): number {
    if (this.end !== undefined) return this.end;
    const last = Math.max(-1, ...this.pages.keys());
    const known = (last + 1) * pageSize;
    return this.total === undefined ? known : Math.max(this.total, known);
  }

  at(index: number): Row | undefined {
    return this.added[index - this.known] ?? this.kept(index);
  }

  protected kept(index: number): Row | undefined {
    return this.pages.get(Math.floor(index / pageSize))?.[index % pageSize];
  }

  // Of groups: the lines of their heads, the group of such a line, the number of a record in its own, and that group.
  heads = (): readonly number[] => [];
  headAt = (_line: number): Rows | undefined => undefined;
  numberAt = (line: number): number => line + 1;
  listOf = (_id: string): Rows => this;

  get loaded(): Row[] {
    return [...this.pages.values(), this.added].flat();
  }

  /** Rows `first` to `end` are looked at. */
  look(first: number, end: number): void {
    this.seen = { first, end: Math.max(end, first + 1) };
    this.loadSeen();
  }

  private loadSeen(): void {
    const first = Math.floor(this.seen.first / pageSize);
    const last = Math.floor((this.seen.end - 1) / pageSize);
    for (let page = first; page <= last && this.underWay.size < mostAtOnce; page++) {
      const isOver = this.end !== undefined && page * pageSize >= this.end && page > 0;
      if ((!this.pages.has(page) || this.stale.has(page)) && !this.underWay.has(page) && !isOver) void this.load(page);
    }
  }

  private async read(page: number): Promise<ReadPage> {
    const query = new URLSearchParams(this.query);
    const cursor = this.cursors.get(page);
    if (cursor !== undefined) query.set("after", cursor);
    else if (page > 0) query.set("offset", String(page * pageSize));
    return this.readAll(query, pageSize);
  }

  /** Goes on where the server ends a page early, because its records are large. */
  private async readAll(query: URLSearchParams, most: number): Promise<ReadPage> {
    const rows: Row[] = [];
    for (;;) {
      query.set("limit", String(most - rows.length));
      const { json, headers } = await outlast(() => get(`${recordsPath(this.db)}?${query}`, this.stop.signal));
      const more = rowsOf(json);
      rows.push(...more);
      const next = headers.get("x-next-cursor");
      if (next === null || more.length === 0 || rows.length >= most) return { rows, next };
      query.delete("offset");
      query.set("after", next);
    }
  }

  private async load(page: number): Promise<void> {
    const { generation } = this;
    this.underWay.add(page);
    this.loading++;
    try {
      const { rows, next } = await this.read(page);
      if (generation === this.generation) this.show(page, rows, next);
    } catch (error) {
      if (generation !== this.generation || this.stop.signal.aborted) return;
      this.problem = messageOf(error);
      if (this.pages.size === 0) this.end = 0;
      return;
    } finally {
      this.loading--;
      if (generation === this.generation) this.underWay.delete(page);
    }
    this.loadSeen();
  }

  private show(page: number, rows: readonly Row[], next: string | null): void {
    this.problem = "";
    this.stale.delete(page);
    if (next === null || rows.length < pageSize) this.end = page * pageSize + rows.length;
    else this.cursors.set(page + 1, next);
    const isFirst = this.pages.size === 0;
    const middle = Math.floor(this.seen.first / pageSize);
    const kept = [...this.pages, [page, rows] as const]
      .toSorted(([a], [b]) => Math.abs(a - middle) - Math.abs(b - middle))
      .slice(0, mostPages);
    this.pages = new Map(kept);
    if (isFirst && this.end === undefined && this.total === undefined) this.countSoon();
  }

  /** Whoever works out sums counts too. */
  sumUp: (() => unknown) | undefined;

  counted(total: number): void {
    this.total = total;
    this.counts.set(this.matching, total);
  }

  countSoon(isAgain = false): void {
    clearTimeout(this.counting);
    this.counting = setTimeout(() => void this.countAll(isAgain), countAfterMs);
  }

  private async countAll(isAgain: boolean): Promise<void> {
    if (this.sumUp) return void (isAgain && this.sumUp());
    const { generation } = this;
    try {
      const { headers } = await get(countPath(this.db, this.matching), this.stop.signal);
      const total = headers.get("x-total-count");
      if (generation !== this.generation || total === null) return;
      this.counted(Number(total));
    } catch {
      // The list does without it.
    }
  }

  /** Reads again what is seen; what was read stays until then. */
  refresh(isSeen = true): void {
    this.generation++;
    this.cursors.clear();
    this.underWay.clear();
    this.stale = new Set(this.pages.keys());
    this.settle();
    const wasEnd = this.end;
    this.end = undefined;
    if (this.sumUp) this.sumUp();
    else if (wasEnd === undefined) this.countSoon(true);
    if (wasEnd !== undefined) this.total = wasEnd;
    if (isSeen) this.loadSeen();
  }

  /** What happened since is no news any more. */
  protected settle(): void {
    this.changed = new Map([...this.changed].filter(([, change]) => change === "unsaved"));
    this.fresh = 0;
    this.added = this.added.filter(({ id }) => isNew(id));
    this.counts.clear();
  }

  isClosed = false;

  close(): void {
    this.isClosed = true;
    clearTimeout(this.counting);
    this.stop.abort();
  }

  /** Puts a record where it stands, if it is among the loaded ones; what is still on its way stays in it. */
  put(row: Row, change?: Change): boolean {
    const held = this.held.get(row.id);
    return held && change !== "destroy"
      ? this.place({ ...row, data: { ...row.data, ...held } }, "unsaved")
      : this.place(row, change);
  }

  protected place(row: Row, change: Change | undefined): boolean {
    if (this.added.some(({ id }) => id === row.id)) {
      this.added = this.added.map((one) => (one.id === row.id ? row : one));
      this.mark([row.id], change);
      return true;
    }
    for (const [page, rows] of this.pages) {
      const at = rows.findIndex(({ id }) => id === row.id);
      if (at < 0) continue;
      if (change !== "destroy") this.pages = new Map([...this.pages, [page, rows.with(at, row)]]);
      this.mark([row.id], change);
      return true;
    }
    return false;
  }

  protected mark(ids: readonly string[], change: Change | undefined): void {
    const next = new Map(this.changed);
    for (const id of ids) {
      if (change) next.set(id, change);
      else next.delete(id);
    }
    this.changed = next;
  }

  /** What was typed and is on its way, by record and field. */
  private readonly held = new Map<string, Readonly<Record<string, unknown>>>();
  /** The last save of each record: they run one after the other. */
  private readonly last = new Map<string, Promise<unknown>>();
  /** The records that lines of new ones have become. */
  private readonly became = new Map<string, Row>();

  /** Keeps a change in this browser until it is stored. */
  keep: (change: FieldChange, stored: Promise<unknown>) => void = () => {};
  /** The requests that make them, by line, and the keys of those that are to come. */
  readonly making = new Map<string, { readonly key: string; readonly row: Promise<Row | undefined> }>();
  private readonly keys = new Map<string, string>();

  /** Shows a value until it is saved. */
  hold(row: Row, field: string, value: unknown): void {
    this.held.set(row.id, { ...this.held.get(row.id), [field]: value });
    this.put(row);
  }

  private release(id: string, field: string, value: unknown): void {
    const { [field]: held, ...rest } = this.held.get(id) ?? {};
    if (held !== value) return;
    if (Object.keys(rest).length > 0) this.held.set(id, rest);
    else this.held.delete(id);
  }

  /** The id by now of what was a line of a new record. */
  idOf = (id: string): string => this.became.get(id)?.id ?? id;

  /**
   * Changes one field whose value was `seen`; gives back the record. Throws what the server says, or that somebody else
   * has changed the field since. In this browser it is kept until then, if it is not yet.
   */
  save(id: string, field: string, value: unknown, seen: unknown, isKept = false): Promise<Row | undefined> {
    const stored = connection.counted(
      (this.last.get(id) ?? Promise.resolve()).then(() => this.store(id, field, value, seen)),
    );
    this.last.set(
      id,
      stored.catch(() => undefined),
    );
    if (!isKept) this.keep({ id, field, value, seen }, stored);
    return stored;
  }

  /** The first value of a line makes its record, with all that was typed by then; the others are changes of that one. */
  private async store(line: string, field: string, value: unknown, seen: unknown): Promise<Row | undefined> {
    if (isNew(line) && !this.became.has(line)) {
      const key = this.keys.get(line) ?? crypto.randomUUID();
      this.keys.delete(line);
      const row = this.make(line, key);
      this.making.set(line, { key, row });
      return row;
    }
    const made = this.became.get(line);
    if (made && same(valueAt(made, field), value)) return made;
    const id = made?.id ?? line;
    const isOwn = this.own.has(id);
    this.own.add(id);
    try {
      const saved = rowOf(await outlast(() => this.saved(id, field, value, made ? valueAt(made, field) : seen)));
      this.release(id, field, value);
      if (saved) this.put(saved);
      if (saved && made) this.became.set(line, saved);
      return saved;
    } catch (error) {
      this.release(id, field, value);
      if (error instanceof ChangedMeanwhile) this.put(error.now, "update");
      throw error;
    } finally {
      if (!isOwn) this.own.delete(id);
    }
  }

  /** Reads first, because a list has no ETags. Other fields of the record may have changed. */
  private async saved(id: string, field: string, value: unknown, seen: unknown): Promise<unknown> {
    for (let attempt = 1; ; attempt++) {
      const { json, headers } = await get(recordPath(this.db, id));
      const now = rowOf(json);
      const theirs = now && valueAt(now, field);
      // It did arrive, but its answer did not.
      if (now && same(theirs, value)) return json;
      if (now && !same(theirs, seen)) throw new ChangedMeanwhile(theirs, now);
      try {
        const body = { record: { data: { [field]: value } } };
        const ifMatch = headers.get("etag") ?? undefined;
        return (await request("PATCH", `${recordPath(this.db, id)}?keep_table=true`, { body, ifMatch })).json;
      } catch (error) {
        if (!(error instanceof ApiError && error.status === 412) || attempt === mostAttempts) throw error;
      }
    }
  }

  /** Says what the server refuses of a record that one may have left meanwhile. */
  refused(id: string, label: string, words: string): void {
    const row = this.loaded.find((one) => one.id === id);
    const name = (row && cellText(valueAt(row, this.nameField ?? ""))) || say("record");
    toasts.fail(`${label}: ${words}`, isNew(id) ? undefined : { name, address: recordAddress(this.db, id) });
  }

  /** In one transaction, at most 1,000. Gives back the records. */
  async batch(operations: readonly PasteOperation[]): Promise<Row[]> {
    const ids = operations.flatMap(({ id }) => id ?? []);
    for (const id of ids) this.own.add(id);
    try {
      const { json } = await request("POST", batchPath(this.db), { body: { operations } });
      const rows = rowsOf(isMap(json) ? json["results"] : []);
      for (const row of rows) if (!this.put(row)) this.made(row.id);
      return rows;
    } finally {
      for (const id of ids) this.own.delete(id);
    }
  }

  /** These records as they are now, without those that are gone. */
  async now(ids: readonly string[]): Promise<ReadonlyMap<string, Row>> {
    const found = new Map<string, Row>();
    for (let at = 0; at < ids.length; at += mostIds) {
      const query = new URLSearchParams({
        "filter[id][in]": ids.slice(at, at + mostIds).join(","),
      });
      for (const row of (await this.readAll(query, mostIds)).rows) {
        found.set(row.id, row);
        this.put(row, "update");
      }
    }
    return found;
  }

  /** Rows `first` to `end`, also those that nobody has looked at yet, by their place. The list may end before. */
  async range(first: number, end: number): Promise<ReadonlyMap<number, Row>> {
    const found = new Map<number, Row>();
    for (let page = Math.floor(first / pageSize); page * pageSize < end; page++) {
      const rows = this.pages.get(page) ?? (await this.read(page)).rows;
      for (const [at, row] of rows.entries()) found.set(page * pageSize + at, row);
      if (rows.length < pageSize) break;
    }
    for (const [at, row] of this.added.entries()) if (!isNew(row.id)) found.set(this.known + at, row);
    return found;
  }

  /** A last line for a record that is stored with its first value, if the server takes it. */
  begin(data: Row["data"], table: string | null, key: string = crypto.randomUUID()): void {
    this.dropEmpty();
    const line = { id: `${newId}-${key}`, data, table_name: table, created_at: "", updated_at: "" };
    this.keys.set(line.id, key);
    this.added = [...this.added, line];
  }

  /** A line of a new record is now this one. */
  onmade: (line: string, row: Row) => void = () => {};

  /** Nothing was typed into them. */
  dropEmpty(): void {
    this.added = this.added.filter(({ id }) => !isNew(id) || this.changed.has(id));
  }

  private async make(id: string, key: string): Promise<Row | undefined> {
    const line = this.added.find((one) => one.id === id);
    if (!line) return undefined;
    const record = { data: line.data, ...(line.table_name !== null && { table_name: line.table_name }) };
    const options = { body: { record }, key };
    const row = rowOf((await outlast(() => request("POST", recordsPath(this.db), options))).json);
    if (!row) return undefined;
    this.made(row.id);
    this.became.set(id, row);
    this.last.set(row.id, this.last.get(id) ?? Promise.resolve());
    // What was typed meanwhile is on its way.
    const typed = Object.entries(this.held.get(id) ?? {}).filter(([name, value]) => !same(line.data[name], value));
    if (typed.length > 0) this.held.set(row.id, Object.fromEntries(typed));
    this.held.delete(id);
    this.mark([id], undefined);
    this.added = this.added.map((one) => (one.id === id ? row : one));
    this.put(row);
    this.onmade(id, this.added.find((one) => one.id === row.id) ?? row);
    toasts.offerUndo(text.count(texts().added, 1), () => void this.delete([row.id]));
    return row;
  }

  /** A record of one's own is no news. */
  made(id: string): void {
    this.own.add(id);
  }

  /** At most 1,000 at once. */
  async delete(ids: readonly string[]): Promise<void> {
    try {
      await this.batch(ids.map((id) => ({ op: "delete", id })));
      for (const id of ids) this.made(id);
    } finally {
      this.refresh();
    }
  }

  /** Whether records link to some of these: what is cleared there no restoring brings back. */
  async areLinked(ids: readonly string[]): Promise<boolean> {
    const lists = await Promise.all(ids.map((id) => get(linkedPath(this.db, id))));
    return lists.some(({ json }) => mapsIn(json).some(({ count }) => Number(count) > 0));
  }

  /** Brings deleted records back from the bin: as many as the server takes, then it says what is wrong. */
  async restore(ids: readonly string[]): Promise<void> {
    try {
      for (const id of ids) {
        this.made(id);
        await request("POST", restorePath(this.db, id));
      }
    } catch (error) {
      toasts.fail(error);
    }
    this.refresh();
  }

  /** Follows what others change; gives back what ends it. */
  follow(table: string | undefined): () => void {
    const waiting: { kind: string; row: Row }[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    const take = (kind: string) => (event: MessageEvent<string>) => {
      const row = rowOf(parseJson(event.data));
      if (row) waiting.push({ kind, row });
      timer ??= setTimeout(() => {
        timer = undefined;
        this.take(waiting.splice(0));
      }, flushMs);
    };
    const kinds = Object.fromEntries(["create", "update", "destroy"].map((kind) => [kind, take(kind)]));
    const end = followEvents(eventsPath(this.db, table), {
      ...kinds,
      reset: () => this.fresh++,
      present: ({ data }) => (this.present = parseJson(data)),
    });
    return () => {
      end();
      clearTimeout(timer);
    };
  }

  private take(events: readonly { kind: string; row: Row }[]): void {
    const loaded = new Map(this.loaded.map((row) => [row.id, row]));
    this.heard += events.length;
    for (const { kind, row } of events) {
      if (kind !== "update") this.counts.clear();
      const known = loaded.get(row.id);
      if (kind === "create" && !known && !this.own.has(row.id)) this.fresh++;
      else if (kind === "destroy" && known && !this.own.has(row.id)) this.mark([row.id], "destroy");
      else if (kind === "update" && known && known.updated_at < row.updated_at) {
        this.put(row, this.isChanging || this.own.has(row.id) ? undefined : "update");
        loaded.set(row.id, row);
      }
    }
  }
}

/** What this person's changes that wait are called in this browser, in their order. */
export function keptKeys(): string[] {
  return Object.keys(localStorage)
    .filter((key) => key.startsWith(`corestead.draft.${session.person.id}.waits `))
    .toSorted();
}

/** For what is worked out of the records: runs a moment after somebody has changed some. */
export function whenHeard(rows: () => Rows, run: () => unknown): void {
  $effect(() => {
    const timer = rows().heard > 0 ? setTimeout(run, 500) : undefined;
    return () => clearTimeout(timer);
  });
}

function rowsOf(json: unknown): Row[] {
  return Array.isArray(json) ? json.flatMap((value) => rowOf(value) ?? []) : [];
}

/** Somebody else has given a field another value. */
export class ChangedMeanwhile extends Error {
  readonly theirs: unknown;
  /** The record as it is now. */
  readonly now: Row;

  constructor(theirs: unknown, now: Row) {
    super(`${say("changedMeanwhile")} ${cellText(theirs) || "–"}`);
    this.theirs = theirs;
    this.now = now;
  }
}

/** The server's words about fields, or in one sentence. */
export function refusalOf(error: unknown, field: string): string {
  const said = error instanceof ApiError ? ownOf(error.errors, field) : undefined;
  return said ? said.join(", ") : messageOf(error);
}
