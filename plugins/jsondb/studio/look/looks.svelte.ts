/** How the fields of the records on a page are shown: their kinds, and the titles that their links need. */
import { localOf, text, words } from "studio";
import { valueAt, type Row } from "../cells.ts";
import { say } from "../words.ts";
import { choiceAt, lookOf, type Labelled, type Look } from "./kinds.ts";
import { Linked } from "./linked.svelte.ts";
import { shownText, type Reading } from "./values.ts";

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

export function reading(linked?: Linked): Reading {
  return {
    language: text.language,
    today: today(),
    yes: say("yes"),
    no: say("no"),
    time: (value) => text.time(value),
    title: (look, id) => (look.target && linked?.titleOf(look.target, id)) || id.slice(0, 8),
  };
}

export class Looks {
  readonly linked = new Linked();
  private settling: readonly Look[] = [];

  /** The fields of the table that is shown. */
  show(fields: readonly Labelled[]): void {
    this.settling = fields.map(labelled).filter(({ kind }) => kind === "choice");
  }

  /** Whether a green or grey choice says that the record is done with: then nothing of it is late. */
  isSettled(row: Row): boolean {
    return this.settling.some(({ name, choices }) => {
      const { color } = choiceAt(choices, valueAt(row, name));
      return color === "green" || color === "gray" || color === "grey";
    });
  }

  textOf(look: Look, value: unknown): string {
    return shownText(look, value, reading(this.linked));
  }
}
