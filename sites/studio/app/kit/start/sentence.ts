/** What starts something, in words. */
import { words } from "../../resources/names.ts";
import { ownOf, textOf } from "../../resources/values.ts";
import { session } from "../../state/session.svelte.ts";
import { text } from "../../state/text.svelte.ts";
import { becomesOf, changedOf, furtherOf, ofRecords, timesOf, type Start } from "./start.ts";
import type { Tables } from "./tables.svelte.ts";
import type { TableField } from "./tables.ts";
import { say } from "./words.ts";

/** `A record of Orders is added`, `Every day at 08:00`, `User: deleted`. `anyTable`: no table is all of them. */
export function sentenceOf(start: Start, tables: Pick<Tables, "table" | "fieldsOf">, anyTable = false): string {
  if (start.kind === "cron") return scheduleSentence(start.schedule);
  if (start.kind === "hook") return say("messageArrives", { name: start.given["name"]?.trim() || "…" });
  const table = start.db === "" ? say("anyTable") : (tables.table(start.db, start.table)?.label ?? start.db);
  if (start.source !== ofRecords)
    return start.source === ""
      ? say("chooseEvent")
      : say("eventHappens", { what: modelName(start.source), event: eventName(start.event) });
  if (start.db === "" && !anyTable) return say("chooseTable");
  const becomes = becomesOf(start);
  const of = (name: string) => fieldOf(start, tables, name)?.label ?? words(name);
  if (becomes !== undefined)
    return say("fieldBecomes", { table, field: of(becomes), value: valueSaid(start, tables, becomes) });
  const changed = changedOf(start);
  if (changed) return say("fieldChanged", { table, fields: changed.map(of).join(", ") });
  const happens = { create: "recordCreated", update: "recordChanged", destroy: "recordDeleted" } as const;
  const word = ownOf(happens, start.event);
  return word ? say(word, { table }) : say("eventHappens", { what: table, event: eventName(start.event) });
}

/** What a flow with this start is called, unless a person says it: `Orders: Paid`, `New record in Orders`. */
export function titleOfStart(start: Start, tables: Pick<Tables, "table" | "fieldsOf">): string {
  const happens = { create: "newIn", update: "changeIn", destroy: "deletedIn" } as const;
  const word = ownOf(happens, start.event);
  const table = tables.table(start.db, start.table)?.label;
  if (start.source !== ofRecords || table === undefined || !word) return sentenceOf(start, tables);
  const becomes = becomesOf(start);
  if (becomes === undefined) return say(word, { table });
  const field = fieldOf(start, tables, becomes)?.label ?? words(becomes);
  const value = start.filter[becomes];
  const said =
    value === true ? field : value === false ? `${field} – ${text.messages.no}` : valueSaid(start, tables, becomes);
  return `${table}: ${said}`;
}

/** What the record must have: `Status: New, Paid: yes`. */
export function conditionsOf(start: Start, tables: Pick<Tables, "fieldsOf">): string {
  return Object.keys(furtherOf(start))
    .map((name) => `${fieldOf(start, tables, name)?.label ?? words(name)}: ${valueSaid(start, tables, name)}`)
    .join(", ");
}

function fieldOf({ db, table }: Start, tables: Pick<Tables, "fieldsOf">, name: string): TableField | undefined {
  return tables.fieldsOf(db, table).find((field) => field.name === name);
}

/** The value of a condition as people know it. */
function valueSaid(start: Start, tables: Pick<Tables, "fieldsOf">, name: string): string {
  const value = start.filter[name];
  const choice = fieldOf(start, tables, name)?.choices.find((one) => one.value === value)?.label;
  return choice ?? (value === true ? text.messages.yes : value === false ? text.messages.no : textOf(value));
}

/** `Core::Prompt` is called what its list calls one. */
export function modelName(model: string): string {
  const resource = session.resources.find((one) => one.model === model);
  if (resource) return capital(text.singular(resource.path));
  return words(
    (model.split("::").at(-1) ?? model)
      .replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
      .toLowerCase(),
  );
}

export function eventName(event: string): string {
  const known = { create: "isCreated", update: "isChanged", destroy: "isDeleted" } as const;
  const word = ownOf(known, event);
  return word ? say(word) : words(event.replaceAll(".", "_")).toLowerCase();
}

export function scheduleSentence(schedule: string): string {
  const { every, minute, hour, weekday, day } = timesOf(schedule);
  const at = clock(hour, minute);
  const number = String(minute);
  switch (every) {
    case "minutes":
      return say("everyMinutes", { count: number });
    case "hour":
      return say("everyHour", { minute: number.padStart(2, "0") });
    case "day":
      return say("everyDay", { at });
    case "workday":
      return say("everyWorkday", { at });
    case "week":
      return say("everyWeek", { day: weekdayName(weekday), at });
    case "month":
      return say("everyMonth", { day: String(day), at });
    default:
      return schedule.trim() === "" ? say("chooseTime") : say("bySchedule", { schedule });
  }
}

export function clock(hour: number, minute: number): string {
  return `${String(hour).padStart(2, "0")}:${String(minute).padStart(2, "0")}`;
}

/** 0 is Sunday. */
export function weekdayName(weekday: number): string {
  return new Intl.DateTimeFormat(text.language, { weekday: "long", timeZone: "UTC" }).format(
    new Date(Date.UTC(2024, 0, 7 + weekday)),
  );
}

function capital(phrase: string): string {
  return phrase.charAt(0).toUpperCase() + phrase.slice(1);
}
