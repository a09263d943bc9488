/**
 * The events of one follower as text. A follower that asks for older changes reads them page by page until few are left,
 * then joins the others; one that cannot keep up reads by itself again. So a slow client costs no memory, and misses
 * nothing.
 */
import * as liveStore from "./store.ts";
import { parseExactly, type Sql } from "platform";
import { eventId, positionOf, type ChangePage, type LogEntry } from "./store.ts";
import type { Database } from "../databases/database.ts";
import { pageSize, toldOf, type Feed, type Listener, type Present, type Told } from "./feed.ts";
import { printRaw, readRaw, withoutData } from "../records/print.ts";
import { mayAll } from "../access/reach.ts";
import { shownOf } from "../access/reach-store.ts";
import { scopeValue, type Method, type VariableValues } from "../databases/public-methods.ts";
import type { RecordEventKind, Data } from "../records/record.ts";

export interface Follow {
  /** The token, or the visitor's address, that the follower counts for. */
  readonly owner: string;
  readonly isPublic: boolean;
  readonly print: Print;
  /** The version of the database that `print` was made for; the stream ends with it. Undefined: it fits every version. */
  readonly version?: number;
  /** The id of the last event that the client has. */
  readonly lastEventId: string | undefined;
  /** Whether the client may still see the database; asked every second. If it throws, that is not known, and asked again. */
  readonly isAllowed: () => Promise<boolean>;
  /** The database as the client may use it now; undefined: everything that `print` shows may be seen. */
  readonly opened?: () => Promise<Database | undefined>;
  /** Aborted when the client is gone. */
  readonly signal: AbortSignal;
}

interface Streaming {
  readonly db: Database;
  readonly feed: Feed;
  readonly sql: Sql;
  readonly heartbeatMs: number;
  readonly stopping: AbortSignal;
  /** Called once, when the stream is over. */
  readonly ended: () => void;
}

const maxWaiting = 250_000;
const lookMs = 1_000;
// A client that has taken nothing for so many heartbeats is gone or asleep.
const maxMissedBeats = 8;

/** Resolves when the client follows: nothing that is committed from then on is missed. */
export async function streamTo(asked: Follow, streaming: Streaming): Promise<ReadableStream<Uint8Array>> {
  const { feed, stopping } = streaming;
  const outbox = outboxOf(maxWaiting);
  const follower = followerOf(asked, streaming, outbox);
  let missedBeats = 0;
  let breakOff = () => {};
  const beat = () => {
    follower.beat();
    if (++missedBeats > maxMissedBeats) breakOff();
  };
  let isLooking = false;
  const look = async () => {
    if (isLooking) return;
    isLooking = true;
    // What is not known now is asked again.
    const isAllowed = await asked.isAllowed().catch(() => true);
    isLooking = false;
    if (!isAllowed) outbox.end();
  };
  const heartbeat = setInterval(beat, streaming.heartbeatMs);
  // Often, because caches answer: a token that ends takes its streams with it.
  const looking = setInterval(() => void look(), lookMs);
  const end = () => {
    clearInterval(heartbeat);
    clearInterval(looking);
    for (const signal of [stopping, asked.signal]) signal.removeEventListener("abort", outbox.end);
    outbox.end();
    feed.leave(follower.listener);
    streaming.ended();
  };
  for (const signal of [stopping, asked.signal]) signal.addEventListener("abort", outbox.end);
  if (stopping.aborted || asked.signal.aborted) outbox.end();
  const texts = follower.texts();
  let first: IteratorResult<string> | undefined = await texts.next().catch((error: unknown) => {
    end();
    throw error;
  });
  if (first.done || asked.signal.aborted) end();
  const encoder = new TextEncoder();
  return new ReadableStream<Uint8Array>({
    start(controller) {
      breakOff = () => {
        end();
        controller.error();
      };
    },
    async pull(controller) {
      missedBeats = 0;
      const next = first ?? (await texts.next().catch(atEnd));
      first = undefined;
      if (!next.done) return controller.enqueue(encoder.encode(next.value));
      end();
      controller.close();
    },
    cancel: end,
  });
}

/** A client whose stream ends connects again, and goes on from its last event. */
const atEnd = (): IteratorResult<string> => ({ done: true, value: undefined });

function followerOf({ lastEventId, print, version, opened }: Follow, { db, feed, sql }: Streaming, outbox: Outbox) {
  const open = opened && openChanges(sql, db, opened, print);
  const eventsText = (told: readonly Told[]) => {
    // `print` was made for another version of the database: the client must connect again.
    const isOld = told.some((one) => version !== undefined && one.version !== version);
    if (isOld) outbox.end();
    return isOld ? "" : told.map((one) => eventText(one, print)).join("");
  };
  /** One after the other, because what is not open to everybody is asked for. */
  let last: Promise<void> | undefined;
  const push = (made: string | Promise<string>) => {
    const lastId = feed.lastId();
    if (!last && typeof made === "string") {
      if (made !== "") outbox.push({ text: made, lastId });
      return;
    }
    const pushed = Promise.all([made, last]).then(
      ([text]) => (text === "" ? undefined : outbox.push({ text, lastId })),
      () => outbox.end(), // the client connects again, and goes on from its last event
    );
    const own = pushed.finally(() => {
      if (last === own) last = undefined;
    });
    last = own;
  };
  const shownText = (told: readonly Told[]) =>
    !open || open.isWhole(told) ? eventsText(told) : open.text(told, outbox);
  /** For whoever may read all records; others learn of it where they ask. */
  const presentText = async (present: Present): Promise<string> => {
    const now = await opened?.();
    return now && mayAll(now, "read") ? `event: present\ndata: ${JSON.stringify(present)}\n\n` : "";
  };
  const listener: Listener = {
    changes: (told) => push(shownText(told)),
    reset: () => push(resetText(feed.lastId())),
    present: (present) => push(presentText(present)),
    end: outbox.end,
  };

  /** The changes after `lastId`, until there are few more; gives back the last one's id, undefined if it is unknown. */
  async function* older(lastId: string, to?: string): AsyncGenerator<string, string | undefined> {
    const epoch = feed.epoch();
    let position = positionOf(epoch, lastId);
    while (position && !outbox.ended()) {
      const page: ChangePage = await liveStore.read(sql, db, position, pageSize, to);
      if (!page.known || page.epoch !== epoch) return undefined;
      const text = await shownText(toldOf(page, epoch));
      if (text !== "") yield text;
      position = page.next;
      if (page.complete && (to !== undefined || page.changes.length < pageSize / 2)) break;
    }
    return position && eventId(epoch, position);
  }

  async function* texts(): AsyncGenerator<string> {
    let lastId = lastEventId;
    if (lastId !== undefined) yield ": following\n\n";
    for (let isFirst = lastId === undefined; !outbox.ended(); isFirst = false) {
      let known = lastId === undefined ? undefined : yield* older(lastId);
      if (outbox.ended()) return;
      outbox.open();
      const { from } = await feed.join(listener);
      const joinedAt = eventId(feed.epoch(), { from });
      if (known !== undefined) known = yield* older(known, from);
      if (isFirst) yield `retry: 2000\n: following\nid: ${joinedAt}\n\n`;
      else if (known === undefined) yield resetText(joinedAt);
      lastId = joinedAt;
      for (;;) {
        const taken = await outbox.take();
        if (taken === undefined) return;
        if (taken === "behind") break;
        lastId = taken.lastId;
        yield taken.text;
      }
      feed.leave(listener);
    }
  }

  /** With an id, so that a client that was sent nothing for long need not start over. */
  const beat = () => push(`: heartbeat\nid: ${feed.lastId()}\n\n`);
  return { listener, texts, beat };
}

/**
 * The changes of records that are open to a follower, without what is hidden of them. One that leaves what they see is
 * deleted for them: without data.
 */
function openChanges(sql: Sql, first: Database, opened: () => Promise<Database | undefined>, print: Print) {
  let db = first;
  return {
    /** Nothing has changed since all records were open to them, with all fields. */
    isWhole: (told: readonly Told[]) => mayAll(db, "read") && told.every((one) => one.version === db.version),
    async text(told: readonly Told[], outbox: Outbox): Promise<string> {
      const now = await opened();
      if (!now) outbox.end();
      if (!now || told.length === 0) return "";
      db = now;
      const shown = await shownOf(
        sql,
        db,
        told.map(({ raw }) => readRaw(raw)),
      );
      const left = await leftOf(
        sql,
        db,
        told.filter((_, at) => !shown[at]),
      );
      return told
        .map((one, at) => {
          const open = shown[at] ? { ...one, raw: shown[at] } : left.get(one.id);
          return open ? eventText(open, print) : "";
        })
        .join("");
    },
  };
}

/** Of changes after which records are not open, those before which they were, by their number. */
async function leftOf(sql: Sql, db: Database, told: readonly Told[]): Promise<ReadonlyMap<number, Told>> {
  const before = told.flatMap(({ was, ...one }) => (was === null ? [] : [{ ...one, was }]));
  if (before.length === 0) return new Map();
  const shown = await shownOf(
    sql,
    db,
    before.map(({ raw, was, tableName, leftTable }) => ({
      ...readRaw(raw),
      data: was,
      tableName: leftTable ?? tableName,
    })),
  );
  return new Map(
    before.flatMap((one, at) => {
      const raw = shown[at];
      if (!raw) return [];
      const gone = { kind: "destroy", tableName: one.leftTable ?? one.tableName, leftTable: null } as const;
      return [[one.id, { ...one, ...gone, raw: withoutData(raw) }] as const];
    }),
  );
}

/** Empty if the follower does not see the change. */
function eventText(told: Told, print: Print): string {
  const shown = print(told);
  return shown ? `id: ${told.eventId}\nevent: ${shown.kind}\ndata: ${shown.data}\n\n` : "";
}

/** Tells the client to read everything again: what it has missed is not known. */
function resetText(id: string): string {
  return `id: ${id}\nevent: reset\ndata: {"reason":"changes since the last event are no longer known"}\n\n`;
}

/** The events that wait to be sent to one follower. Beyond a limit none is kept: the follower reads them by itself. */
export interface Waiting {
  readonly text: string;
  /** The id of the last event in it. */
  readonly lastId: string;
}

export interface Outbox {
  /** Begins to take what is pushed. */
  open(): void;
  push(waiting: Waiting): void;
  /** Everything that waits; "behind" if some of it was not kept, undefined at the end. */
  take(): Promise<Waiting | "behind" | undefined>;
  end(): void;
  readonly ended: () => boolean;
}

export function outboxOf(maxCharacters: number): Outbox {
  let waiting: Waiting[] = [];
  let characters = 0;
  let state: "open" | "behind" | "ended" = "behind";
  let wake: (() => void) | undefined;

  const changed = () => {
    wake?.();
    wake = undefined;
  };
  const empty = () => {
    waiting = [];
    characters = 0;
  };
  return {
    open() {
      if (state === "ended") return;
      empty();
      state = "open";
    },
    push(one) {
      if (state !== "open") return;
      waiting.push(one);
      characters += one.text.length;
      if (characters > maxCharacters) {
        empty();
        state = "behind";
      }
      changed();
    },
    async take() {
      if (waiting.length === 0 && state === "open") await new Promise<void>((resolve) => (wake = resolve));
      const last = waiting.at(-1);
      if (!last) return state === "ended" ? undefined : "behind";
      const taken = { text: waiting.map(({ text }) => text).join(""), lastId: last.lastId };
      empty();
      return taken;
    },
    end() {
      state = "ended";
      changed();
    },
    ended: () => state === "ended",
  };
}

// How a change is shown to those who follow it.

export interface Shown {
  readonly kind: RecordEventKind;
  /** The record as JSON. */
  readonly data: string;
}

/** Undefined if the follower does not see the change. */
export type Print = (entry: LogEntry) => Shown | undefined;

/** The records API; of one table, or of all. For followers of a table, a record that leaves it is deleted. */
export function printPrivate(tableName: string | undefined): Print {
  return ({ kind, raw, tableName: now, leftTable }) => {
    const isOf = tableName === undefined || now === tableName;
    if (!isOf && leftTable !== tableName) return undefined;
    return { kind: isOf ? kind : "destroy", data: printRaw(raw, "nested") };
  };
}

/** As the public method `list` shows it: records within its `scope_by`, with their visible fields. */
export function printPublic({ scope, allowedFields }: Method, variables: VariableValues): Print {
  const own = scope && scopeValue(scope, variables);
  if (scope && own === undefined) return () => undefined;
  return ({ kind, raw }) => {
    const text = printRaw(raw, "public");
    if (!scope && !allowedFields) return { kind, data: text };
    const record = parseExactly(text) as { data: Data }; // the public form of print.ts
    if (scope && textOf(record.data, scope.field) !== own) return undefined;
    const visible = Object.entries(record.data).filter(([name]) => allowedFields?.has(name) ?? true);
    return { kind, data: JSON.stringify({ ...record, data: Object.fromEntries(visible) }) };
  };
}

/** As PostgreSQL's `->>` gives it. */
function textOf(data: Data, field: string): string | undefined {
  const value = Object.hasOwn(data, field) ? data[field] : undefined;
  if (value === undefined || value === null) return undefined;
  return typeof value === "string" ? value : JSON.stringify(value);
}
