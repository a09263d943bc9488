/** A start of a flow in words. */
import { ownOf, session, text, words } from "studio";
import type { Codes } from "../program/codes.svelte.ts";
import { say } from "../words.ts";
import { ofRecords, timesOf, type Start } from "../when.ts";

/** `A record is created in Orders`, `Every day at 08:00`, `User: deleted`. */
export function sentenceOf(start: Start, codes: Codes): string {
  if (start.kind === "cron") return scheduleSentence(start.schedule);
  const table = codes.table(start.db, start.table)?.label ?? start.db;
  if (start.source !== ofRecords)
    return start.source === ""
      ? say("chooseEvent")
      : say("eventHappens", { what: modelName(start.source), event: eventName(start.event) });
  if (start.db === "") return say("chooseTable");
  const happens = { create: "recordCreated", update: "recordChanged", destroy: "recordDeleted" } as const;
  const word = ownOf(happens, start.event);
  return word ? say(word, { table }) : say("eventHappens", { what: table, event: eventName(start.event) });
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
