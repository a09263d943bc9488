/** What a request asks of processes. Pure. */
import { badRequest, isDateTime, isDay, uuidOf } from "platform";
import type { ProcessFilter } from "./process-view-store.ts";
import type { Included } from "./show.ts";
import { starterKinds } from "./starter.ts";

const mostText = 200;

export function filterOf(query: URLSearchParams): ProcessFilter {
  const [starterKind, starterId] = starterOf(textOf(query, "started_by"));
  const before = textOf(query, "before");
  return {
    flowCode: query.get("flow_code") || undefined,
    status: query.get("status") || undefined,
    starterKind,
    starterId,
    from: timeOf(query, "from"),
    to: timeOf(query, "to"),
    before: before === undefined ? undefined : idOf("before", before),
    trace: textOf(query, "trace_id"),
    recordId: textOf(query, "record_id"),
    madeRecordId: recordOf(textOf(query, "made_record_id")),
  };
}

export function includedOf(query: URLSearchParams): Included {
  const names = (query.get("include") ?? "").slice(0, mostText).split(",").filter(Boolean);
  const unknown = names.find((name) => name !== "started_by" && name !== "inputs");
  if (unknown !== undefined) throw badRequest("`include` may name `started_by` and `inputs`");
  return { startedBy: names.includes("started_by"), inputs: names.includes("inputs") };
}

/** Whether something is asked for that is there by default. */
export function isOn(query: URLSearchParams, name: string): boolean {
  const text = query.get(name) || "true";
  if (text !== "true" && text !== "false") throw badRequest(`\`${name}\` must be true or false`);
  return text === "true";
}

/** `cron` or `cron:7`. */
function starterOf(text: string | undefined): [string?, string?] {
  if (text === undefined) return [];
  const colon = text.indexOf(":");
  const kind = colon < 0 ? text : text.slice(0, colon);
  if (!starterKinds.some((one) => one === kind))
    throw badRequest(`\`started_by\` must be one of ${starterKinds.join(", ")}, or one with an id: cron:7`);
  return colon < 0 ? [kind] : [kind, text.slice(colon + 1)];
}

function recordOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  try {
    return uuidOf(text);
  } catch {
    throw badRequest("`made_record_id` must be the id of a record");
  }
}

function idOf(name: string, text: string): string {
  try {
    return uuidOf(text);
  } catch {
    throw badRequest(`\`${name}\` must be the id of a process`);
  }
}

function textOf(query: URLSearchParams, name: string): string | undefined {
  const value = query.get(name) || undefined;
  if (value !== undefined && value.length > mostText)
    throw badRequest(`\`${name}\` may have at most ${mostText} characters`);
  if (value?.includes("\0")) throw badRequest(`\`${name}\` cannot hold the character U+0000`);
  return value;
}

function timeOf(query: URLSearchParams, name: string): Date | undefined {
  const text = textOf(query, name);
  if (text === undefined) return undefined;
  if (!isDateTime(text) && !isDay(text))
    throw badRequest(`\`${name}\` must be a time such as 2026-01-31T10:00:00Z, or a day`);
  return new Date(text);
}
