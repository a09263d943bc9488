/** What a webhook waits for and when a schedule is due, as people say it. Pure. */
import { isMap, textOf } from "../../resources/values.ts";

type Row = Readonly<Record<string, unknown>>;

/** A webhook, a cron or a hook, and what it leads to. */
export interface Start {
  /** `webhook 7`, `cron 3`; of one that is not stored yet `new 1`. */
  readonly key: string;
  readonly kind: "webhook" | "cron" | "hook";
  readonly id: string;
  readonly active: boolean;
  /** Why the server has switched it off; "" if it has not. */
  readonly trouble: string;
  /** Of a webhook: `Core::Record` and `create`. */
  readonly source: string;
  readonly event: string;
  /** The database whose records it tells of, and their table; "" where it is not said. */
  readonly db: string;
  readonly table: string;
  /** Further values that the record must have. */
  readonly filter: Row;
  /** Of an update of records: one of these fields has another value now; none is any. */
  readonly changed: readonly string[];
  /** Of a cron. */
  readonly schedule: string;
  readonly timezone: string;
  /** When it is due next, as it is stored; "" if it is off or being changed. */
  readonly next: string;
  /** Of a hook: what its form holds, and the address that it has once it is stored. */
  readonly given: Readonly<Record<string, string>>;
  readonly url: string;
}

/** What the form of a hook asks for here. */
export const hookFields = ["name", "scheme", "secret", "header", "id_header"] as const;

export const ofRecords = "Core::Record";

/** Makes a secret for a way to sign; the other services bring their own. */
export function secretMaker(scheme: unknown): (() => string) | undefined {
  if (scheme !== "standard" && scheme !== "hmac" && scheme !== "token") return undefined;
  return () => {
    const random = btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(24))));
    return scheme === "standard" ? `whsec_${random}` : random.replaceAll(/[+/]/g, "x");
  };
}

export function newStart(kind: Start["kind"], number: number, given: Partial<Start> = {}): Start {
  return {
    key: `new ${number}`,
    kind,
    id: "",
    active: true,
    trouble: "",
    source: kind === "webhook" ? ofRecords : "",
    event: kind === "webhook" ? "create" : "",
    db: "",
    table: "",
    filter: {},
    changed: [],
    schedule: kind === "cron" ? "0 8 * * *" : "",
    timezone: "",
    next: "",
    given: kind === "hook" ? { scheme: "standard" } : {},
    url: "",
    ...given,
  };
}

export function webhookStart(row: Row): Start {
  const { db_code: db, table_name: table, ...filter } = isMap(row["filter"]) ? row["filter"] : {};
  const isOfRecords = row["source_type"] === ofRecords;
  const id = textOf(row["id"]);
  return {
    ...newStart("webhook", 0),
    key: `webhook ${id}`,
    id,
    active: row["active"] === true,
    trouble: textOf(row["disabled_reason"]),
    source: textOf(row["source_type"]),
    event: textOf(row["kind"]),
    db: isOfRecords ? textOf(db) : "",
    table: isOfRecords ? textOf(table) : "",
    filter: isOfRecords ? filter : isMap(row["filter"]) ? row["filter"] : {},
    changed: Array.isArray(row["changed"]) ? row["changed"].map(String) : [],
  };
}

export function cronStart(row: Row): Start {
  const id = textOf(row["id"]);
  const [schedule, timezone] = [textOf(row["schedule"]), textOf(row["timezone"])];
  return {
    ...newStart("cron", 0),
    key: `cron ${id}`,
    id,
    active: row["active"] === true,
    trouble: textOf(row["last_error"]),
    schedule,
    timezone,
    next: textOf(row["next_run_at"]),
  };
}

export function hookStart(row: Row): Start {
  const id = textOf(row["id"]);
  return {
    ...newStart("hook", 0),
    key: `hook ${id}`,
    id,
    active: row["active"] === true,
    given: Object.fromEntries(hookFields.map((name) => [name, textOf(row[name])])),
    url: textOf(row["url"]),
  };
}

/** A trigger of a flow, as the flow's list of them has it. */
export function startOf(trigger: Row): Start {
  const [kind = "", id = ""] = textOf(trigger["id"]).split("-");
  if (kind === "cron") return { ...cronStart({ ...trigger, id }), trouble: textOf(trigger["trouble"]) };
  if (kind === "hook") return hookStart({ ...trigger, id });
  const { kind: of, db, table, on, filter, source_type, changed, active, trouble } = trigger;
  const place = of === "record" ? { db_code: db, ...(table !== null && { table_name: table }) } : {};
  return webhookStart({
    id,
    active,
    changed,
    kind: on,
    disabled_reason: trouble,
    source_type: of === "record" ? ofRecords : source_type,
    filter: { ...place, ...(isMap(filter) ? filter : {}) },
  });
}

/** What is sent to store it. */
export function triggerOf(start: Start, active: boolean): Row {
  const { kind, id, source, event, db, table, filter, schedule, timezone, given } = start;
  const own = { ...(id !== "" && { id: `${kind}-${id}` }), active };
  if (kind === "cron") return { ...own, kind, schedule, ...(timezone !== "" && { timezone }) };
  if (kind === "hook") {
    const { secret = "", header = "", id_header = "", ...rest } = given;
    // A secret that is not typed again stays.
    const kept = id !== "" && secret === "" && rest["scheme"] !== "none";
    const names = { header: header || null, id_header: id_header || null };
    return { ...own, kind, ...rest, ...(!kept && { secret: secret || null }), ...names };
  }
  if (source !== ofRecords || db === "") return { ...own, kind: "event", source_type: source, on: event, filter };
  return { ...own, kind: "record", db, table: table || null, on: event, filter, changed: changedOf(start) };
}

/** A webhook's filter: where the record must be, and what it must have. Null without any. */
export function filterOf({ db, table, filter }: Start): Row | null {
  const all = { ...(db !== "" && { db_code: db }), ...(table !== "" && { table_name: table }), ...filter };
  return Object.keys(all).length > 0 ? all : null;
}

/** What of a record must have changed: null unless it waits for changes of records. */
export function changedOf({ source, event, changed }: Start): readonly string[] | null {
  return source === ofRecords && event === "update" && changed.length > 0 ? changed : null;
}

/** The one field that must have changed, where it is also said to what; undefined otherwise. */
export function becomesOf(start: Start): string | undefined {
  const [name, ...others] = changedOf(start) ?? [];
  return name !== undefined && others.length === 0 && Object.hasOwn(start.filter, name) ? name : undefined;
}

/** What else a record must have: its conditions without what a field becomes. */
export function furtherOf(start: Start): Row {
  const becomes = becomesOf(start);
  return Object.fromEntries(Object.entries(start.filter).filter(([name]) => name !== becomes));
}

/** Whether it says what it waits for: a table of records, a model, a time, a sender. */
export function isWhole({ kind, id, source, event, db, schedule, given }: Start): boolean {
  if (kind === "hook")
    return Boolean(given["name"]?.trim()) && (id !== "" || given["scheme"] === "none" || Boolean(given["secret"]));
  return kind === "cron"
    ? schedule.trim() !== ""
    : source !== "" && event !== "" && (source !== ofRecords || db !== "");
}

/** `berlin` is Europe/Berlin; what is the end of no zone, or of several, stays as it was typed. */
export function zoneOf(typed: string, zones: readonly string[]): string {
  const wanted = typed.trim().replaceAll(" ", "_");
  const found = zones.filter((zone) => `/${zone}`.toLowerCase().endsWith(`/${wanted}`.toLowerCase()));
  return (wanted !== "" && found.length === 1 && found[0]) || typed.trim();
}

export type Every = "minutes" | "hour" | "day" | "workday" | "week" | "month" | "custom";
export const everies: readonly Every[] = ["minutes", "hour", "day", "workday", "week", "month", "custom"];

export interface Times {
  readonly every: Every;
  /** Of `minutes` how many, else the minute of the hour. */
  readonly minute: number;
  readonly hour: number;
  /** 0 is Sunday. */
  readonly weekday: number;
  readonly day: number;
}

/** A cron's five fields as people say them; what they do not say that way is `custom`. */
export function timesOf(schedule: string): Times {
  const [minute = "", hour = "", day = "", month = "", weekday = ""] = schedule.trim().split(/\s+/);
  const number = (text: string, most: number) =>
    /^\d{1,2}$/.test(text) && Number(text) <= most ? Number(text) : undefined;
  const standing = {
    minute: number(minute, 59) ?? 0,
    hour: number(hour, 23) ?? 8,
    weekday: number(weekday, 7) ?? 1,
    day: number(day, 31) ?? 1,
  };
  const as = (every: Every, more: Partial<Times> = {}): Times => ({ ...standing, every, ...more });
  const steps = /^\*\/(\d{1,2})$/.exec(minute)?.[1];
  if (month !== "*") return as("custom");
  if (steps !== undefined && `${hour} ${day} ${weekday}` === "* * *") return as("minutes", { minute: Number(steps) });
  if (number(minute, 59) === undefined) return as("custom");
  if (`${hour} ${day} ${weekday}` === "* * *") return as("hour");
  if (number(hour, 23) === undefined) return as("custom");
  if (day === "*" && weekday === "*") return as("day");
  if (day === "*" && weekday === "1-5") return as("workday", { weekday: 1 });
  if (day === "*" && number(weekday, 7) !== undefined) return as("week", { weekday: Number(weekday) % 7 });
  return weekday === "*" && number(day, 31) ? as("month") : as("custom");
}

export function scheduleOf({ every, minute, hour, weekday, day }: Times): string {
  switch (every) {
    case "minutes":
      return `*/${Math.min(59, Math.max(1, minute || 15))} * * * *`;
    case "hour":
      return `${minute} * * * *`;
    case "day":
      return `${minute} ${hour} * * *`;
    case "workday":
      return `${minute} ${hour} * * 1-5`;
    case "week":
      return `${minute} ${hour} * * ${weekday}`;
    default:
      return `${minute} ${hour} ${day} * *`;
  }
}

export interface NextTimes {
  readonly timezone: string;
  readonly times: readonly string[];
}

/** Where the server is asked for the next times; undefined as long as nobody would expect an answer. */
export function nextPath(schedule: string, timezone: string): string | undefined {
  if (schedule.trim() === "") return undefined;
  const query = new URLSearchParams({ schedule: schedule.trim(), count: "3" });
  if (timezone.trim() !== "") query.set("timezone", timezone.trim());
  return `/account/crons/next.json?${query}`;
}

export function nextOf(json: unknown): NextTimes {
  const { timezone, next_runs: runs } = isMap(json) ? json : {};
  return {
    timezone: textOf(timezone),
    times: Array.isArray(runs) ? runs.filter((one) => typeof one === "string") : [],
  };
}
