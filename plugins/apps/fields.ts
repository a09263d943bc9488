/** The fields of an app. behaviour 2.3, B.10. */
import { answer, column, field, Type, type NewOf, type PatchOf, type RowOf } from "platform";
import { look } from "../accounts/api.ts";
import { appEngines, cssEngines } from "./choices.ts";

const { choice, flag, id, integer, jsonb, jsonbOf, text } = column;

/** An element of `actions`, as given. behaviour 2.3. */
export interface Action {
  readonly action: string;
  readonly flow_code: string;
  readonly description?: string | null;
  readonly public?: boolean;
}

export type Json = Readonly<Record<string, unknown>>;

/** An action as a request has it: null is as good as leaving out. */
export interface GivenAction extends Omit<Action, "public"> {
  readonly public?: boolean | null;
}

export const limits = {
  /** Characters are code points: an emoji is one. */
  sourceCode: 200_000,
  prompt: 200_000,
  /** As JSON text. */
  json: 1_000_000,
  actions: 100,
} as const;

const JsonObject = Type.Unsafe<Json>(Type.Object({}, { additionalProperties: true }));
const ActionInput = Type.Unsafe<GivenAction>(
  Type.Object({
    action: Type.String({
      pattern: "^[A-Za-z][A-Za-z0-9_-]*$",
      maxLength: 100,
      description: "a name: letters, digits, - and _",
    }),
    flow_code: field.code(),
    description: Type.Optional(field.line(2000)),
    public: Type.Optional(field.nullable(field.flag())),
  }),
);
const AppAction = answer.object("AppAction", {
  action: Type.String(),
  flow_code: Type.String(),
  description: Type.Optional(field.nullable(Type.String())),
  public: Type.Optional(Type.Boolean()),
});
/** Whether an app can be a tile of the dashboard. */
export const isTile = "coalesce(fields -> 'dashboard_widget' = 'true', false)";

const same = (name: string) => [name, name, name] as const;
const source = "<script>\n  let count = $state(0);\n</script>\n<button onclick={() => count++}>{count}</button>";

/** Columns that a save writes and a version keeps. */
export const savedFields = {
  name: text({ label: ["Name", "Nazwa", "Name"], body: field.name(), example: "Counter" }),
  url_code: text({
    label: ["Short name", "Nazwa techniczna", "Technischer Name"],
    help: [
      "Its address ends in it. Left out, it is made of the name.",
      "Na niej kończy się adres. Puste pole: powstaje z nazwy.",
      "Die Adresse endet darauf. Leer: wird aus dem Namen gebildet.",
    ],
    body: field.line(),
    blank: "",
    example: "counter",
  }),
  description: text({
    label: ["Description", "Opis", "Beschreibung"],
    body: field.line(10_000),
    orNull: true,
    example: "Counts clicks",
  }),
  app_engine: choice(appEngines, {
    label: ["Written in", "Język", "Geschrieben in"],
    choices: {
      svelte: same("Svelte"),
      vue: same("Vue"),
      react: same("React"),
      js: same("JavaScript"),
      html: same("HTML"),
      kaboom: ["Kaboom (2D games)", "Kaboom (gry 2D)", "Kaboom (2D-Spiele)"],
      phaser: ["Phaser (games)", "Phaser (gry)", "Phaser (Spiele)"],
    },
    body: field.nullable(field.oneOf(appEngines)),
    blank: "svelte",
  }),
  css_engine: choice(cssEngines, {
    label: ["Styles written in", "Język stylów", "Sprache der Stile"],
    choices: {
      tailwind_all: ["Tailwind, all of it", "Tailwind, cały", "Tailwind, vollständig"],
      tailwind: ["Tailwind, only what is used", "Tailwind, tylko to, co użyte", "Tailwind, nur was benutzt wird"],
      none: ["Plain CSS", "Zwykły CSS", "Reines CSS"],
    },
    body: field.nullable(field.oneOf(cssEngines)),
    blank: "tailwind_all",
  }),
  source_code: text({
    label: ["Source code", "Kod źródłowy", "Quelltext"],
    // patch.ts checks its length and that of the prompt.
    body: Type.String({ minLength: 1, pattern: String.raw`\S`, description: "not blank" }),
    example: source,
  }),
  public: flag({
    label: ["Public", "Publiczna", "Öffentlich"],
    help: [
      "Everyone can open it without signing in.",
      "Każdy otworzy ją bez logowania.",
      "Jeder kann sie ohne Anmeldung öffnen.",
    ],
    body: field.flag(),
    blank: false,
    example: true,
  }),
  active: flag({ label: ["On", "Włączone", "An"], body: field.flag(), blank: true }),
  db_code: text({
    label: ["Table", "Tabela", "Tabelle"],
    body: field.nullable(
      Type.String({ pattern: "^[A-Za-z0-9_-]*$", maxLength: 100, description: "the code of a database" }),
    ),
    orNull: true,
    example: "counter",
  }),
  show_in_module: text({
    label: ["Shown in", "Pokazywana w", "Gezeigt in"],
    help: [
      "A module, or the path of a view such as contacts/index.",
      "Moduł albo ścieżka widoku, np. contacts/index.",
      "Ein Modul oder der Pfad einer Ansicht, z. B. contacts/index.",
    ],
    body: field.line(100),
    orNull: true,
    example: "crm",
  }),
  /** Kept in `fields`. */
  dashboard_widget: flag({
    label: ["Tile of the home page", "Kafelek strony głównej", "Kachel der Startseite"],
    body: field.nullable(field.flag()),
    by: "server",
    quiet: false,
    from: isTile,
    blank: false,
    example: true,
  }),
  prompt: text({
    label: ["Instructions for AI", "Instrukcje dla AI", "Anweisungen für die KI"],
    body: field.nullable(Type.String()),
    orNull: true,
    widget: "text",
  }),
  actions: jsonbOf(answer.list(AppAction), {
    label: ["Actions", "Akcje", "Aktionen"],
    body: field.nullable(Type.Unsafe<readonly GivenAction[]>(Type.Array(ActionInput, { maxItems: limits.actions }))),
    blank: [],
    example: [{ action: "weather", flow_code: "weather-advice", description: "Advice by the weather", public: true }],
  }),
  fields: jsonb({
    label: ["Further settings", "Dalsze ustawienia", "Weitere Einstellungen"],
    body: field.nullable(JsonObject),
    blank: {},
    example: { dashboard_widget: true },
  }),
  config: jsonb({
    label: ["Configuration", "Konfiguracja", "Konfiguration"],
    body: field.nullable(JsonObject),
    blank: {},
  }),
};

export const fields = {
  ...savedFields,
  trusted: flag({
    label: ["Trusted", "Zaufana", "Vertrauenswürdig"],
    help: [
      "Other apps run shut in: they reach only their own tables and flows. This one may do everything that whoever opens it may do here. Only for code that you have read.",
      "Inne aplikacje są odizolowane: sięgają tylko do swoich tabel i przepływów. Ta może tu wszystko, co osoba, która ją otworzy. Tylko dla kodu, który znasz.",
      "Andere Apps laufen abgeschirmt: Sie erreichen nur ihre eigenen Tabellen und Abläufe. Diese darf hier alles, was die Person darf, die sie öffnet. Nur für Code, den Sie gelesen haben.",
    ],
    body: field.flag(),
    blank: false,
  }),
  ...look,
  app_build_time: integer({
    label: ["Time of the build (ms)", "Czas budowania (ms)", "Dauer der Erstellung (ms)"],
    by: "check",
    example: 9,
  }),
  css_build_time: integer({
    label: ["Time of the styles' build (ms)", "Czas budowania stylów (ms)", "Dauer der Erstellung der Stile (ms)"],
    by: "check",
    example: 14,
  }),
  created_by_id: id({
    label: ["Author", "Autor", "Angelegt von"],
    by: "server",
    quiet: false,
    orNull: true,
    example: 1,
  }),
  updated_by_id: id({
    label: ["Last change by", "Autor zmiany", "Geändert von"],
    by: "server",
    quiet: false,
    orNull: true,
  }),
};

/** The fields of a request. */
export type AppPatch = PatchOf<typeof fields>;
export type NewApp = NewOf<typeof fields>;
export type FullRow = RowOf<typeof fields, "uuid">;
