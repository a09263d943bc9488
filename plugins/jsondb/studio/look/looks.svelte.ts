/** Fields and values in the language of the person. */
import { localOf, text, words } from "studio";
import { isDay, spanIn, spans, type Operator } from "../conditions.ts";
import { say, texts } from "../words.ts";
import { lookOf, people, type Labelled, type Look } from "./kinds.ts";
import type { Titles } from "./titles.svelte.ts";
import { dayText, type Reading } from "./values.ts";

const own = { id: "ownId", created_at: "created", updated_at: "updated", table_name: "table" } as const;

/** Fields by the label that the schema gives them, those of every record in our words, others by their names. */
export function labelled(field: Labelled): Look {
  return lookOf(field, text.language, (name) =>
    field.type === undefined && Object.hasOwn(own, name) ? say(own[name as keyof typeof own]) : words(name),
  );
}

let day = { at: 0, zone: "", today: "" };

/** The day of the account's time zone, worked out once a minute. */
function today(): string {
  const now = Date.now();
  if (now - day.at > 60_000 || day.zone !== text.timezone)
    day = { at: now, zone: text.timezone, today: localOf(now, text.timezone).slice(0, 10) };
  return day.today;
}

export function reading(titles: Titles): Reading {
  return {
    language: text.language,
    today: today(),
    yes: say("yes"),
    no: say("no"),
    time: (value) => text.time(value),
    files: (count) => text.count(texts().files, count),
    title: (look, id) => titleIn(look, id, titles),
  };
}

/** Days that are worked out when somebody asks, in words. */
export function spanName(span: string): string {
  const known = spans.find((one) => one === span);
  return known ? say(`span_${known}`) : words(span);
}

/** How values of a field are compared, in words. */
export function comparison(look: Look, op: Operator): string {
  const isOrdered = op === "gt" || op === "gte" || op === "lt" || op === "lte";
  return say(isDay(look) && isOrdered ? `${op}_day` : op);
}

/** A value that is one of a filter or a group, where all are texts. */
export function namedValue(look: Look, value: string, titles: Titles): string {
  const span = isDay(look) ? spanIn(value) : undefined;
  if (span !== undefined) return spanName(span);
  if (look.kind === "yesno") return say(value === "true" ? "yes" : "no");
  if (look.target || look.shown === "person") return titleIn(look, value, titles);
  return look.choices.find((one) => String(one.value) === value)?.label ?? dayText(value, text.language);
}

function titleIn({ shown, target }: Look, id: string, titles: Titles): string {
  if (shown === "person") return titles.nameOf(people, id);
  return (target && titles.of(target, id)) || id.slice(0, 8);
}
