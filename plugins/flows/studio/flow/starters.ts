/** The flows that one can start with; each works as it stands, in every language. Pure. */
/* oxlint-disable unicorn/no-thenable -- a step of a flow has a branch of that name */
import type { Start, Table } from "studio";
import type { Program } from "./program/tree.ts";

type Language = "en" | "pl" | "de";
/** How a flow is started, as the page of a new one asks. */
export type Way = "record" | "form" | "time" | "message" | "event" | "asked";

export interface Starter {
  readonly id: "empty" | "message" | "doubles" | "stamp" | "report" | "late" | "greeting" | "decision" | "loop";
  /** Starts that it makes sense with; without them, any. */
  readonly ways?: readonly Way[];
  /** What it must find in the table that is chosen. */
  readonly needs?: (table: Table) => unknown;
  /** What it waits for there. */
  readonly start?: (table: Table) => Partial<Start>;
  readonly program: (language: Language, table: Table) => Program;
}

/** For those that need none. */
export const nowhere: Table = { db: "", table: "", label: "", fields: [], titleField: undefined, hasForm: false };

const ofRecord = ["record", "form"] as const;
const dateIn = ({ fields }: Table) => fields.find(({ kind }) => kind === "date" || kind === "datetime");
const choiceIn = ({ fields }: Table) => fields.find(({ kind, choices }) => kind === "choice" && choices.length > 0);
const inTable = ({ db, table }: Table) => ({ db, ...(table !== "" && { table_name: table }) });
const titleOf = ({ titleField = "id" }: Table, of: string) => `{{ ${of}.${titleField} }}`;
/** One line for each record that was found before. */
const listed = (table: Table): Program => [
  { type: "mutation", set: { report: "" } },
  {
    type: "each",
    in: "found",
    as: "record",
    do: [{ type: "mutation", set: { report: `{{ report }}${titleOf(table, "record")}; ` } }],
  },
  { type: "return", value: { count: "{{ found | size }}", report: "{{ report }}" } },
];

const words = {
  en: {
    hello: "Hello",
    world: "world",
    large: "Ask somebody before you send it",
    small: "Send it at once",
    line: "line",
    isNew: "is new in",
    twice: "Stands in the table already:",
  },
  pl: {
    hello: "Witaj,",
    world: "świecie",
    large: "Zapytaj kogoś przed wysłaniem",
    small: "Wyślij od razu",
    line: "wiersz",
    isNew: "– nowy rekord w tabeli",
    twice: "Jest już w tabeli:",
  },
  de: {
    hello: "Hallo",
    world: "Welt",
    large: "Vor dem Senden jemanden fragen",
    small: "Sofort senden",
    line: "Zeile",
    isNew: "ist neu in",
    twice: "Steht schon in der Tabelle:",
  },
} as const;

export const starters: readonly Starter[] = [
  { id: "empty", program: () => [] },
  {
    id: "message",
    ways: ofRecord,
    needs: () => true,
    program: (language, table) => [
      { type: "mutation", set: { message: `${titleOf(table, "data")} ${words[language].isNew} ${table.label}` } },
      { type: "return", value: { message: "{{ message }}" } },
    ],
  },
  {
    id: "doubles",
    ways: ofRecord,
    needs: ({ titleField }) => titleField,
    program: (language, table) => [
      {
        type: "db",
        op: "search",
        ...inTable(table),
        params: { filter: { [table.titleField ?? "id"]: titleOf(table, "data") }, limit: 2 },
        as: "found",
      },
      {
        type: "if",
        condition: "found.size > 1",
        then: [{ type: "fail", message: `${words[language].twice} ${titleOf(table, "data")}` }],
      },
    ],
  },
  {
    id: "stamp",
    ways: ["record"],
    needs: (table) => dateIn(table) && choiceIn(table),
    start: (table) => {
      const { name = "", choices = [] } = choiceIn(table) ?? {};
      return { event: "update", changed: [name], filter: { [name]: choices.at(-1)?.value } };
    },
    program: (_, table) => [
      {
        type: "db",
        op: "update",
        ...inTable(table),
        id: "{{ data.id }}",
        data: {
          [dateIn(table)?.name ?? ""]: `{{ 'now' | date: '${dateIn(table)?.kind === "date" ? "%F" : "%FT%TZ"}' }}`,
        },
      },
    ],
  },
  {
    id: "report",
    ways: ["time"],
    needs: () => true,
    start: () => ({ schedule: "0 8 * * 1" }),
    program: (_, table) => [
      { type: "db", op: "search", ...inTable(table), params: { limit: 100 }, as: "found" },
      ...listed(table),
    ],
  },
  {
    id: "late",
    ways: ["time"],
    needs: dateIn,
    start: () => ({ schedule: "0 7 * * 1-5" }),
    program: (_, table) => [
      {
        type: "db",
        op: "search",
        ...inTable(table),
        params: { filter: { [dateIn(table)?.name ?? ""]: { lt: "{{ 'now' | date: '%F' }}" } }, limit: 100 },
        as: "found",
      },
      ...listed(table),
    ],
  },
  {
    id: "greeting",
    ways: ["asked", "event"],
    program: (language) => [
      {
        type: "mutation",
        set: { greeting: `${words[language].hello} {{ input.name | default: '${words[language].world}' }}` },
      },
      { type: "return", value: { greeting: "{{ greeting }}" } },
    ],
  },
  {
    id: "decision",
    ways: ["asked"],
    program: (language) => [
      { type: "mutation", set: { sum: "{{ input.sum | default: 250 }}" } },
      {
        type: "if",
        condition: "sum > 100",
        then: [{ type: "mutation", set: { advice: words[language].large } }],
        else: [{ type: "mutation", set: { advice: words[language].small } }],
      },
      { type: "return", value: { sum: "{{ sum }}", advice: "{{ advice }}" } },
    ],
  },
  {
    id: "loop",
    ways: ["asked"],
    program: (language) => [
      { type: "mutation", set: { lines: ["A", "B", "C"], report: "" } },
      {
        type: "each",
        in: "lines",
        as: "item",
        do: [
          {
            type: "mutation",
            set: { report: `{{ report }}${words[language].line} {{ item_index | plus: 1 }}: {{ item }}; ` },
          },
        ],
      },
      { type: "return", value: { report: "{{ report }}" } },
    ],
  },
];
