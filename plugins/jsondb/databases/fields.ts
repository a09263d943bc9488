/** The fields of a database. behaviour 4.4, B.7. */
import { column, field, Type, type PatchOf, type RowOf } from "platform";
import { look } from "../../accounts/api.ts";
import { collationOfAccount, collationOfEquals } from "./columns-store.ts";
import { operations } from "./public-methods.ts";
import { schemaKeys } from "./schema.ts";

const { code, flag, id, integer, json, jsonbOf, jsonOf, text, texts, uuid } = column;

const uuidForm = "^[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$";
const schemaText =
  '`fields` and their types (in full `{ type, required, label, help, choices, format, currency, min, max, default, unique, link, on_delete, rollup }`), `title_field`, `history`, `trash_days`, `indexed_fields`, and `sorts`: pairs such as `["category", "-score"]` of a filter and an order that get an index of their own; or `tables` of such';

const accessText =
  "null opens the database to whoever has the privilege `dbs`; else at most 50 grants { to, may, where, hide }, which add up for each record. `to`: everyone, role:user, user:7, team:3, department:2 or group:4. `may`: read, add, edit or manage. `where`: a filter, as of a flow's search, whose values may be {user_id}, {user_login}, {team_ids}, {department_ids} and {group_ids}. `hide`: fields that are as if the schema did not have them. Whoever may not manage the database sees `to` and `may` of their own grants.";

/** `parseAccess` judges the grants. */
const Access = Type.Union([Type.Unsafe<readonly unknown[]>(Type.Array(Type.Unknown())), Type.Null()], {
  description: accessText,
});

/** The keys are told to clients; `parseSchema` and `parsePublicMethods` judge the values. */
const objectOf = (keys: readonly string[], description: string) => {
  const properties = Object.fromEntries(keys.map((key) => [key, Type.Optional(Type.Unknown())]));
  return Type.Union([Type.Unsafe<Record<string, unknown>>(Type.Object(properties)), Type.Null()], { description });
};

const collation = `(select ${collationOfAccount} from accounts a where a.id = dbs.account_id)`;
const raised = integer({ by: "check", hidden: true, quiet: true });

export const fields = {
  name: text({ label: ["Name", "Nazwa", "Name"], body: field.name(), example: "Customers" }),
  code: code({
    label: ["Short name", "Nazwa techniczna", "Technischer Name"],
    help: [
      "Programs find the table by it: letters, digits, - and _.",
      "Programy odnajdują po niej tabelę: litery, cyfry, - i _.",
      "Programme finden die Tabelle daran: Buchstaben, Ziffern, - und _.",
    ],
    body: field.nullable(
      Type.String({
        pattern: "^(?:[A-Za-z0-9][A-Za-z0-9_-]*)?$",
        maxLength: 100,
        description: "letters, digits, - and _",
      }),
    ),
    from: "name",
    otherwise: "db",
    example: "customers",
  }),
  ...look,
  app_id: uuid({
    label: ["App", "Aplikacja", "App"],
    body: field.nullable(Type.String({ pattern: uuidForm, description: "a UUID" })),
    orNull: true,
  }),
  schema: json({
    label: ["Fields", "Pola", "Felder"],
    body: objectOf(schemaKeys, schemaText),
    orNull: true,
    example: {
      fields: { email: { type: "string", required: true }, age: "integer" },
      indexed_fields: ["email", "age"],
    },
  }),
  public_methods: json({
    label: ["Public form and link", "Publiczny formularz i link", "Öffentliches Formular, öffentlicher Link"],
    body: objectOf(operations, "what visitors may do"),
    orNull: true,
    example: { create: { allowed_fields: ["email"], auto_fields: { visitor: "{cookie_key}" } } },
  }),
  fields: json({
    label: ["Further settings", "Dalsze ustawienia", "Weitere Einstellungen"],
    help: [
      "Kept for programs; the table itself reads none of it.",
      "Przechowywane dla programów; sama tabela ich nie czyta.",
      "Für Programme aufbewahrt; die Tabelle selbst liest nichts davon.",
    ],
    body: Type.Unsafe<Record<string, unknown>>(Type.Object({}, { additionalProperties: true })),
    blank: {},
  }),
  access: jsonOf(Access, {
    label: ["Access", "Dostęp", "Zugriff"],
    help: [
      "Who may see, add, change and manage; empty: whoever may use tables.",
      "Kto może oglądać, dodawać, zmieniać i zarządzać; puste: każdy, kto może używać tabel.",
      "Wer sehen, anlegen, ändern und verwalten darf; leer: alle, die Tabellen nutzen dürfen.",
    ],
    body: Access,
    orNull: true,
    doc: accessText,
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
  /** Rises with everything that writers must know. */
  schema_version: raised,
  /** By which records are checked. */
  rules_version: raised,
  /** By which records are indexed. */
  plan_version: raised,
  /** By which every record is indexed. */
  indexed_version: integer({ by: "server", hidden: true }),
  /** Writes of its records are logged in `record_changes`. */
  live: flag({ by: "server", hidden: true }),
  /** The keys of its unique fields (unique.ts). */
  key_sets: jsonbOf(Type.Unknown(), { by: "server", hidden: true }),
  /** The fields that are being renamed (renames.ts). */
  renames: jsonbOf(Type.Unknown(), { by: "server", hidden: true }),
  /** The fields that had other names, or are gone (renames.ts). */
  former: jsonbOf(Type.Unknown(), { by: "server", hidden: true }),
  timezone: text({
    by: "server",
    hidden: true,
    from: "(select a.timezone from accounts a where a.id = dbs.account_id)",
  }),
  collation: text({ by: "server", hidden: true, from: collation }),
  /** The collation by whose indexes equal strings are found. */
  equals_by: text({ by: "server", hidden: true, from: collationOfEquals }),
  /** The shapes of search that have an index of their own. */
  learned: texts({
    by: "server",
    hidden: true,
    from: `array(
      select i.shape from db_indexes i
      where i.db_id = dbs.id and i.status = 'ready'
        and (i.shape not like '%>idx_str%' or i.collation_name = ${collation}))`,
  }),
};

export type DbRow = RowOf<typeof fields, "uuid">;
export type DbFields = PatchOf<typeof fields>;
