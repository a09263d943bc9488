/** What needs somebody's attention: what fails, what was switched off, what ends soon. Pure. */
import { isMap, textOf } from "../resources/values.ts";

export type Trouble =
  | "failing"
  | "switchedOff"
  | "inError"
  | "notImported"
  | "missed"
  | "endsSoon"
  | "ended"
  | "pending";

export interface Notice {
  /** The list's path in the API. */
  readonly path: string;
  /** What the list is of: a database. */
  readonly of: string | undefined;
  readonly id: string;
  readonly name: string;
  readonly trouble: Trouble;
  /** Since or until when. */
  readonly at: string | undefined;
  readonly detail: string;
  /** How many of the list have this very trouble; the first of them is shown. */
  readonly count: number;
}

/** The lists that are asked, each with its query. */
export const watched: Readonly<Record<string, string>> = {
  "/account/webhooks": "limit=200",
  "/connect/flow_processes": "status=error&steps=false&count=false&limit=100",
  "/core/tasks": "kind=import&status=failed",
  "/account/crons": "limit=200",
  "/account/api_tokens": "limit=200",
  "/cms/domains": "limit=200",
};

const soonMs = 14 * 24 * 3_600_000;
const mostOfList = 5;

type Row = Readonly<Record<string, unknown>>;

/** By this it is remembered as done: what happens again is another one. */
export function keyOf({
  path,
  id,
  trouble,
  at,
}: Pick<Notice, "path" | "id" | "trouble"> & { readonly at?: string | null | undefined }): string {
  return [path, id, trouble, at ?? ""].join(" ");
}

/** What a person keeps as done, under `studio.inbox`. */
export function doneIn(kept: unknown): readonly string[] {
  const done = isMap(kept) ? kept["done"] : undefined;
  return Array.isArray(done) ? done.filter((key) => typeof key === "string") : [];
}

/** A flow that fails again and again, of the inbox. */
export function failingFlow(item: Row) {
  const of = { path: "/connect/flows", of: null, id: textOf(item["flow_code"]), name: textOf(item["title"]) };
  const what = { trouble: "failing" as const, detail: "", count: Number(item["count"]) };
  return { ...of, ...what, at: textOf(item["created_at"]) };
}

/** At most five of a list, which is one of `watched`; what fails in the same way again and again is one of them. */
export function noticesOf(path: string, rows: unknown, now: number): Notice[] {
  const list: readonly unknown[] = Array.isArray(rows) ? rows : [];
  const groups = new Map<string, Notice>();
  for (const notice of list.flatMap((row) => (isMap(row) ? noticeOf(path, row, now) : []))) {
    const key = JSON.stringify([notice.name, notice.trouble, notice.detail]);
    const known = groups.get(key);
    groups.set(key, known ? { ...known, count: known.count + 1 } : notice);
  }
  return [...groups.values()].slice(0, mostOfList);
}

function noticeOf(path: string, row: Row, now: number): Notice[] {
  const about = (trouble: Trouble, at?: unknown, detail: unknown = "") => [
    {
      path: path === "/core/tasks" ? "/core/dbs/{db_id}/tasks" : path,
      of: path === "/core/tasks" ? textOf(row["db_code"]) : undefined,
      id: textOf(row["id"]),
      name: nameIn(path, row),
      trouble,
      at: typeof at === "string" ? at : undefined,
      detail: textOf(detail),
      count: 1,
    },
  ];
  switch (path) {
    case "/account/webhooks":
      if (row["disabled_reason"]) return about("switchedOff", undefined, row["disabled_reason"]);
      return row["failing_since"] && row["active"] === true ? about("failing", row["failing_since"]) : [];
    case "/connect/flow_processes":
      return row["status"] === "error" ? about("inError", row["finished_at"], row["error"]) : [];
    case "/core/tasks":
      return about("notImported", row["finished_at"], row["error"]);
    case "/account/crons":
      return row["last_error"] && row["active"] === true ? about("missed", row["last_run_at"], row["last_error"]) : [];
    case "/account/api_tokens":
      return tokenNotice(row, now, about);
    case "/cms/domains":
      return row["status"] === "pending" ? about("pending") : [];
    default:
      return [];
  }
}

/** A token that ends in two weeks, or has ended in the last two; links to sign in by end all the time. */
function tokenNotice(row: Row, now: number, about: (trouble: Trouble, at: unknown) => Notice[]): Notice[] {
  const end = Date.parse(textOf(row["expires_at"]));
  if (Number.isNaN(end) || row["active"] !== true || row["kind"] === "web_token") return [];
  if (end < now) return end > now - soonMs ? about("ended", row["expires_at"]) : [];
  return end < now + soonMs ? about("endsSoon", row["expires_at"]) : [];
}

function nameIn(path: string, row: Row): string {
  const fields =
    path === "/account/webhooks"
      ? ["url", "target_code"]
      : ["name", "db_name", "flow_code", "code", "token_info", "id"];
  return fields.map((field) => textOf(row[field])).find((text) => text !== "") ?? "";
}
