/** The filters of a request. Pure. */
import { badRequest, isDateTime, isDay } from "platform";
import type { ActivityFilter } from "./store.ts";

const mostText = 200;

export function filterOf(query: URLSearchParams): ActivityFilter {
  const text = (name: string) => {
    const value = query.get(name) || undefined;
    if (value !== undefined && value.length > mostText)
      throw badRequest(`\`${name}\` may have at most ${mostText} characters`);
    if (value?.includes("\0")) throw badRequest(`\`${name}\` cannot hold the character U+0000`);
    return value;
  };
  return {
    userId: idOf(query, "user_id"),
    tokenId: idOf(query, "token_id"),
    actor: text("actor"),
    model: text("model"),
    recordId: text("record_id"),
    action: text("action"),
    from: timeOf(query, "from"),
    to: timeOf(query, "to"),
    text: text("q"),
  };
}

function idOf(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name) || undefined;
  if (text === undefined) return undefined;
  if (!/^\d{1,15}$/.test(text)) throw badRequest(`\`${name}\` must be a number`);
  return Number(text);
}

function timeOf(query: URLSearchParams, name: string): Date | undefined {
  const text = query.get(name) || undefined;
  if (text === undefined) return undefined;
  if (!isDateTime(text) && !isDay(text))
    throw badRequest(`\`${name}\` must be a time such as 2026-01-31T10:00:00Z, or a day`);
  return new Date(text);
}
