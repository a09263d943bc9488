/** What was said and done about one record: its comments and its history, as one stream. */
import { get, isMap, mapsIn, request, textOf } from "studio";
import { recordPath } from "../paths.ts";

export interface Comment {
  readonly kind: "comment";
  readonly id: string;
  readonly at: string;
  readonly text: string;
  readonly userId: number | null;
  readonly who: string;
  readonly isChanged: boolean;
}

export interface Entry {
  readonly kind: "entry";
  readonly id: string;
  readonly at: string;
  readonly n: number;
  readonly op: string;
  readonly source: string;
  readonly who: string;
  readonly changes: readonly (readonly [field: string, before: unknown, after: unknown])[];
}

export interface Mentionable {
  readonly login: string;
  readonly name: string;
}

/** So many of either are read at once. */
const atOnce = 50;

export class Talk {
  comments = $state.raw<readonly Comment[]>([]);
  entries = $state.raw<readonly Entry[]>([]);
  isRead = $state(false);
  private more = $state.raw({ comments: false, entries: false });
  private readonly base: string;

  constructor(db: string, id: string) {
    this.base = recordPath(db, id).replace(/\.json$/, "");
  }

  /** The newest first. */
  readonly items: readonly (Comment | Entry)[] = $derived(
    [...this.comments, ...this.entries].toSorted((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0)),
  );

  get hasMore(): boolean {
    return this.more.comments || this.more.entries;
  }

  async read(signal?: AbortSignal): Promise<void> {
    const [comments, entries] = await Promise.all([this.newestComments(signal), this.page("history", 0, signal)]);
    if (signal?.aborted) return;
    this.comments = comments.flatMap(commentOf);
    this.entries = entries.flatMap(entryOf);
    this.more = { comments: false, entries: entries.length === atOnce };
    this.isRead = true;
  }

  async readMore(): Promise<void> {
    const entries = await this.page("history", this.entries.length);
    this.entries = [...this.entries, ...entries.flatMap(entryOf)];
    this.more = { ...this.more, entries: entries.length === atOnce };
  }

  /** The list of comments begins with the oldest, and a record has a thousand at most. */
  private async newestComments(signal?: AbortSignal): Promise<readonly unknown[]> {
    const { json } = await get(`${this.base}/comments.json?limit=1000`, signal);
    return Array.isArray(json) ? json : [];
  }

  private async page(name: string, offset: number, signal?: AbortSignal): Promise<readonly unknown[]> {
    const { json } = await get(`${this.base}/${name}.json?limit=${atOnce}&offset=${offset}`, signal);
    return Array.isArray(json) ? json : [];
  }

  async say(text: string): Promise<void> {
    const { json } = await request("POST", `${this.base}/comments.json`, { body: { comment: { text } } });
    this.comments = [...this.comments, ...commentOf(json)];
  }

  async change(id: string, text: string): Promise<void> {
    const { json } = await request("PATCH", this.pathOf(id), { body: { comment: { text } } });
    const [changed] = commentOf(json);
    if (changed) this.comments = this.comments.map((one) => (one.id === id ? changed : one));
  }

  pathOf(commentId: string): string {
    return `${this.base}/comments/${encodeURIComponent(commentId)}.json`;
  }

  hide(id: string): () => void {
    const before = this.comments;
    this.comments = before.filter((one) => one.id !== id);
    return () => (this.comments = before);
  }

  /** The record as it is then. */
  async restore(n: number): Promise<unknown> {
    return (await request("POST", `${this.base}/history/${n}/restore.json`)).json;
  }

  /** Who has changed the record last; "" where no history is kept. */
  async lastWho(signal: AbortSignal): Promise<string> {
    const { json } = await get(`${this.base}/history.json?limit=1`, signal);
    return mapsIn(json).flatMap(entryOf)[0]?.who ?? "";
  }

  async people(typed: string, signal: AbortSignal): Promise<readonly Mentionable[]> {
    const { json } = await get(`${this.base}/people.json?${new URLSearchParams({ q: typed })}`, signal);
    return mapsIn(json).map((one) => ({ login: textOf(one["login"]), name: textOf(one["name"]) }));
  }
}

function commentOf(value: unknown): Comment[] {
  if (!isMap(value)) return [];
  const { id, text, user_id: userId, user_name: name, created_at: created, updated_at: updated } = value;
  return [
    {
      kind: "comment",
      id: textOf(id),
      at: textOf(created),
      text: textOf(text),
      userId: typeof userId === "number" ? userId : null,
      who: textOf(name),
      isChanged: created !== updated,
    },
  ];
}

export function entryOf(value: unknown): Entry[] {
  if (!isMap(value)) return [];
  const { n, op, at, user_name: name, source, changes } = value;
  const pairs = Object.entries(isMap(changes) ? changes : {});
  return [
    {
      kind: "entry",
      id: `n${textOf(n)}`,
      at: textOf(at),
      n: Number(n),
      op: textOf(op),
      source: textOf(source),
      who: textOf(name),
      changes: pairs.map(([field, pair]) => {
        const [before, after]: unknown[] = Array.isArray(pair) ? pair : [];
        return [field, before, after] as const;
      }),
    },
  ];
}
