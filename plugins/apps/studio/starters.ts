/** The apps that one can start with: one for each idea. Pure. */
import type { AppEngine, CssEngine } from "../choices.ts";
import kaboom from "./starters/catch.kaboom.txt";
import chart from "./starters/chart.svelte.txt";
import counter from "./starters/counter.svelte.txt";
import form from "./starters/form.react.txt";
import guestbook from "./starters/guestbook.html.txt";
import phaser from "./starters/jump.phaser.txt";
import kanban from "./starters/kanban.svelte.txt";
import todo from "./starters/todo.vue.txt";
import weather from "./starters/weather.js.txt";

export interface DbField {
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
}

/** The values that are filled into a starter. */
export interface StarterValues {
  readonly name: string;
  readonly fields: readonly DbField[];
  readonly table: string | null;
  /** Whether visitors may create records in it. */
  readonly isOpen?: boolean;
}

interface OwnSchema {
  readonly fields: Readonly<Record<string, string | { readonly type: string; readonly required: true }>>;
  readonly indexed_fields: readonly string[];
}

export interface Starter {
  readonly id:
    | "empty"
    | "counter"
    | "todo"
    | "form"
    | "chart"
    | "list"
    | "guestbook"
    | "kanban"
    | "weather"
    | "kaboom"
    | "phaser";
  readonly engine: AppEngine;
  readonly css: CssEngine;
  readonly source: string;
  readonly public?: boolean;
  /** The database that is made for it, unless it is built over one that is there. */
  readonly database?: { readonly schema: OwnSchema; readonly public_methods?: object };
  /** Whether any database will do: its fields are filled in. */
  readonly fitsAny?: boolean;
  /** Whether visitors may use it too, over a database in which they may create records. */
  readonly creates?: boolean;
  /** The name of its action, and the program of the flow that is made for it. */
  readonly action?: { readonly name: string; readonly description: string; readonly program: readonly object[] };
}

const contacts: NonNullable<Starter["database"]> = {
  schema: {
    fields: { name: { type: "string", required: true }, email: "string", message: "text" },
    indexed_fields: ["name", "email"],
  },
};

export const starters: readonly Starter[] = [
  // Made where its records are: plugins/jsondb/studio/views/MakeList.svelte.
  { id: "list", engine: "svelte", css: "none", source: "", database: contacts, fitsAny: true },
  { id: "empty", engine: "svelte", css: "tailwind", source: '<h1 class="p-6 text-xl font-semibold">Hello</h1>\n' },
  { id: "counter", engine: "svelte", css: "none", source: counter },
  {
    id: "todo",
    engine: "vue",
    css: "none",
    source: todo,
    database: {
      schema: { fields: { title: { type: "string", required: true }, done: "boolean" }, indexed_fields: ["title"] },
    },
  },
  { id: "form", engine: "react", css: "tailwind", source: form, database: contacts, fitsAny: true, creates: true },
  { id: "chart", engine: "svelte", css: "none", source: chart },
  {
    id: "guestbook",
    engine: "html",
    css: "none",
    source: guestbook,
    public: true,
    database: {
      schema: {
        fields: {
          name: { type: "string", required: true },
          message: { type: "text", required: true },
          visitor: "string",
        },
        indexed_fields: ["name", "visitor"],
      },
      public_methods: {
        list: { allowed_fields: ["name", "message"] },
        create: {
          allowed_fields: ["name", "message"],
          required_fields: ["name", "message"],
          auto_fields: { visitor: "{cookie_key}" },
        },
      },
    },
  },
  {
    id: "kanban",
    engine: "svelte",
    css: "tailwind",
    source: kanban,
    database: {
      schema: {
        fields: { title: { type: "string", required: true }, column: { type: "string", required: true } },
        indexed_fields: ["title", "column"],
      },
    },
  },
  {
    id: "weather",
    engine: "js",
    css: "none",
    source: weather,
    action: {
      name: "weather",
      description: "The weather in { city }",
      program: [
        { type: "mutation", set: { temperature: 12 } },
        {
          type: "return",
          value: { city: "{{ city }}", temperature: "{{ temperature }}", advice: "Take a jacket with you." },
        },
      ],
    },
  },
  { id: "kaboom", engine: "kaboom", css: "none", source: kaboom },
  { id: "phaser", engine: "phaser", css: "none", source: phaser },
];

/** The source with the name and the fields in the places that are kept for them. */
export function sourceOf({ source, fitsAny }: Starter, { name, fields, table: named, isOpen }: StarterValues): string {
  if (!fitsAny) return source;
  const values = { FIELDS: json(fields), TABLE: json(named), NAME: json(name), CREATE: createOf(named, isOpen) };
  return source.replace(/\b(?:FIELDS|TABLE|NAME|CREATE)\b/g, (word) => values[word as keyof typeof values]); // one of the four
}

function createOf(named: string | null, isOpen = false): string {
  if (isOpen) return "(data) => core.db().create(data)";
  return `(data) => core.records().create(data${named === null ? "" : `, { table_name: ${json(named)} }`})`;
}

/** Of the table that is made for it. */
export function fieldsIn({ database }: Pick<Starter, "database">): DbField[] {
  return Object.entries(database?.schema.fields ?? {}).map(([name, given]) => ({
    name,
    type: typeof given === "string" ? given : given.type,
    required: typeof given !== "string",
  }));
}

/** In one line, with spaces. */
function json(value: unknown): string {
  return JSON.stringify(value, null, 1).replaceAll(/\n\s*/g, " ");
}
