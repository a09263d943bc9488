/**
 * The fields of a resource, each declared once: its name for people, its column, its schema in bodies and in answers,
 * what a new one has that does not say it, who writes it, and its example.
 *
 *     const fields = {
 *       name: text({ label: ["Name", "Nazwa", "Name"], body: field.name(), example: "Weather" }), // no default: required
 *       active: flag({ label: ["Active", "Aktywny", "Aktiv"], body: field.flag(), blank: true }),
 *       last_run_at: time({ label: ["Last run", "Ostatnio", "Zuletzt"], by: "server", orNull: true }), // answers alone
 *     };
 */
import { Type, type Static, type TSchema } from "@sinclair/typebox";
import { answer, type JsonObject } from "../http/answers/answers.ts";
import { field } from "../http/answers/fields.ts";

type One = "text" | "bool" | "int2" | "int4" | "int8" | "uuid" | "timestamptz" | "json" | "jsonb";
export type ColumnType = One | "_text" | "_int8";

/** People with the body, the `check` of a change, or statements of the server's own. */
type WrittenBy = "people" | "check" | "server";

interface Traits {
  readonly given: unknown;
  readonly kept: unknown;
  readonly by: WrittenBy;
  readonly needed: boolean;
  readonly shown: boolean;
  readonly info: boolean;
}

/** Words for people, in each language of the Studio. */
export type Label = readonly [en: string, pl: string, de: string];

/** How a form asks for a field, where its schema does not say it. */
type Widget = "line" | "text" | "secret" | "list" | "time" | "date" | "json";

/** Help for a field in the Studio. */
export interface FieldHelp {
  readonly help?: Label;
  readonly widget?: Widget;
  /** Its values in words. */
  readonly choices?: Readonly<Record<string, Label>>;
}

/** A field that no answer shows needs no name for people, unless they write it. */
type LabelOptions =
  | { readonly label: Label; readonly hidden?: true }
  | { readonly label?: never; readonly hidden: true };

type Options<Kept> = ColumnOptions<Kept> & LabelOptions;

interface ColumnOptions<Kept> extends FieldHelp {
  /** Its schema in bodies. With `by: "check"` what people write is kept in another form: a date as a time. */
  readonly body?: TSchema;
  readonly by?: "check" | "server";
  /** A SQL expression to read instead of a column. Input for it goes to `elsewhere`. */
  readonly from?: string;
  /** Its column, if that has another name. */
  readonly stored?: string;
  /** The value that `check` sets on creation when it is left out, in words for the documents. */
  readonly leftOut?: string;
  /** The default on creation, also used for null. */
  readonly blank?: Kept;
  readonly orNull?: true;
  /** Its description in responses in /openapi.json. */
  readonly doc?: string;
  /** Also changed by the server alone: that is no new version and no news. Those of `by: "server"` always are. */
  readonly quiet?: boolean;
  readonly example?: Kept | null;
}

/** How a secret is kept: sealed for its row, with what may be shown of it in a column beside it. */
interface Sealing {
  readonly place: (id: string | number) => string;
  readonly info?: (secret: string) => string;
}

/** `T` is for types alone. */
export interface Field<T extends Traits = Traits> extends FieldHelp {
  readonly label?: Label;
  readonly column: ColumnType;
  readonly by: WrittenBy;
  readonly body?: TSchema;
  readonly shown?: TSchema;
  readonly needed: boolean;
  readonly orNull: boolean;
  readonly blank: unknown;
  readonly quiet: boolean;
  readonly from?: string;
  readonly stored?: string;
  readonly leftOut?: string;
  readonly example: unknown;
  readonly sealing?: Sealing;
  /** A code that is made of this field if none is given, or of the word. */
  readonly madeOf?: { readonly field: string; readonly otherwise: string };
  readonly traits?: T;
}

export type Fields = Readonly<Record<string, Field>>;

type FieldOf<Kept, O extends Options<Kept>> = Field<{
  given: O extends { body: infer B extends TSchema } ? Static<B> : never;
  kept: O extends { orNull: true } ? Kept | null : Kept;
  by: O extends { by: infer B extends WrittenBy } ? B : "people";
  needed: O extends { body: TSchema }
    ? O extends { blank: unknown } | { orNull: true } | { leftOut: string }
      ? false
      : true
    : false;
  shown: O extends { hidden: true } ? false : true;
  info: false;
}>;

/** The types are made of the options: nothing of them is there when it runs. */
function made<Kept, const O extends Options<Kept>>(column: ColumnType, shown: TSchema, options: O): FieldOf<Kept, O> {
  return factsOf(column, shown, options);
}

function factsOf(
  column: ColumnType,
  shown: TSchema,
  options: ColumnOptions<unknown> & { readonly label?: Label; readonly hidden?: true },
): Omit<Field, "traits"> {
  const { body, by = "people", blank, orNull = false, hidden, from, doc, example, quiet, ...words } = options;
  const said = doc === undefined ? shown : { ...shown, description: doc };
  return {
    ...words,
    column,
    by,
    ...(body && { body }),
    ...(from !== undefined && { from }),
    ...(!hidden && { shown: orNull ? field.nullable(said) : said }),
    needed: body !== undefined && blank === undefined && !orNull && words.leftOut === undefined,
    orNull,
    blank: blank ?? null,
    quiet: quiet ?? by === "server",
    example: example === undefined ? (blank ?? null) : example,
  };
}

export const text = <const O extends Options<string>>(options: O) => made<string, O>("text", Type.String(), options);
export const flag = <const O extends Options<boolean>>(options: O) => made<boolean, O>("bool", Type.Boolean(), options);
export const integer = <const O extends Options<number>>(options: O) =>
  made<number, O>("int4", Type.Integer(), options);
export const time = <const O extends Options<Date>>(options: O) => made<Date, O>("timestamptz", answer.time(), options);
export const json = <const O extends Options<JsonObject>>(options: O) =>
  made<JsonObject, O>("json", answer.json(), options);
export const jsonb = <const O extends Options<JsonObject>>(options: O) =>
  made<JsonObject, O>("jsonb", answer.json(), options);

/** JSON of this schema. */
export const jsonOf = <S extends TSchema, const O extends Options<Static<S>>>(schema: S, options: O) =>
  made<Static<S>, O>("json", schema, options);
export const jsonbOf = <S extends TSchema, const O extends Options<Static<S>>>(schema: S, options: O) =>
  made<Static<S>, O>("jsonb", schema, options);
/** Like this column, with this schema in responses. */
export const value = <S extends TSchema, const O extends Options<Static<S>>>(
  column: ColumnType,
  schema: S,
  options: O,
) => made<Static<S>, O>(column, schema, options);
export const texts = <const O extends Options<readonly string[]>>(options: O) =>
  made<readonly string[], O>("_text", answer.list(Type.String()), options);

export const uuid = <const O extends Options<string>>(options: O) => made<string, O>("uuid", answer.uuid(), options);

/** The id of another row, or a number as large. */
export const id = <const O extends Options<number>>(options: O) => made<number, O>("int8", Type.Integer(), options);
export const ids = <const O extends Options<readonly number[]>>(options: O) =>
  made<readonly number[], O>("_int8", answer.list(Type.Integer()), options);

type Chosen<V extends readonly string[], O> = O extends { by: unknown } | { body: unknown }
  ? O
  : O & { body: ReturnType<typeof field.oneOf<V>> };

/** One of these words, each with its name for people. */
export const choice = <
  const V extends readonly string[],
  const O extends Options<V[number]> &
    ({ readonly hidden: true } | { readonly choices: Readonly<Record<V[number], Label>> }),
>(
  values: V,
  options: O,
) => {
  const schema = field.oneOf(values);
  const all = (options.by ?? options.body) ? options : { ...options, body: schema };
  return made<V[number], Chosen<V, O>>("text", schema, all as Chosen<V, O>);
};

/** A code in the account, made of another field if none is given. Empty, it stays what it is. */
export function code<const B extends TSchema>(
  options: { label: Label; help?: Label; body: B; example: string } & { from: string; otherwise: string },
) {
  const { from, otherwise, ...rest } = options;
  const one = made<string, { label: Label; body: B; blank: "" }>("text", Type.String(), { ...rest, blank: "" });
  return { ...one, madeOf: { field: from, otherwise } };
}

interface SecretOptions {
  readonly label: Label;
  readonly help?: Label;
  readonly body: TSchema;
  readonly place: Sealing["place"];
  readonly info?: (secret: string) => string;
  readonly example: string;
}

/**
 * Sealed for its row; null or "" removes it, left out it stays. With `info`, a column `<name>_info` tells something of
 * it, and answers show that; else nothing.
 */
export function secret<const O extends SecretOptions>(
  options: O,
): Field<{
  given: Static<O["body"]>;
  kept: string | null;
  by: "people";
  needed: false;
  shown: false;
  info: O extends { info: unknown } ? true : false;
}> {
  const { place, info, ...rest }: SecretOptions = options;
  const facts = factsOf("text", Type.String(), { ...rest, widget: "secret", orNull: true, hidden: true });
  return { ...facts, sealing: { place, ...(info && { info }) } };
}

/** Words of fields that many resources have: `text({ ...usual.name, body: field.name() })`. */
export const usual = {
  name: { label: ["Name", "Nazwa", "Name"] },
  code: {
    label: ["Short name", "Nazwa techniczna", "Technischer Name"],
    help: [
      "Programs and addresses use it. Made of the name if it is empty.",
      "Używają jej programy i adresy. Puste pole: powstaje z nazwy.",
      "Programme und Adressen verwenden ihn. Leer: wird aus dem Namen gebildet.",
    ],
  },
  active: { label: ["On", "Włączone", "An"] },
} as const;

type Of<F> = F extends Field<infer T> ? T : never;

/** `last_run_at` -> `lastRunAt`, as postgres.js names columns. */
type Camel<S extends string> = S extends `${infer A}_${infer B}` ? `${A}${Capitalize<Camel<B>>}` : S;

export function camel(name: string): string {
  return name.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** Counted by the database, or a UUID of version 7. Either is known before the row is written. */
export type IdKind = "integer" | "uuid";
export type IdOf<I extends IdKind> = I extends "uuid" ? string : number;

type Infos<F extends Fields> = {
  readonly [K in keyof F & string as Of<F[K]>["info"] extends true ? Camel<`${K}_info`> : never]: string | null;
};

/** A stored row. */
export type RowOf<F extends Fields, I extends IdKind = IdKind> = {
  readonly id: IdOf<I>;
  readonly accountId: number;
  /** Raised by what people change, not by what the server notes. */
  readonly version: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
} & KeptOf<F> &
  Infos<F>;

/** A row of a view. */
export type KeptOf<F extends Fields> = { readonly [K in keyof F & string as Camel<K>]: Of<F[K]>["kept"] };

/** The part of a row that people write. */
export type GivenOf<F extends Fields> = {
  readonly [K in keyof F & string as Of<F[K]>["by"] extends "people" ? Camel<K> : never]: Of<F[K]>["kept"];
} & Infos<F>;

/** The columns that a change writes. */
export type DraftOf<F extends Fields> = GivenOf<F> & {
  readonly [K in keyof F & string as Of<F[K]>["by"] extends "check" ? Camel<K> : never]: Of<F[K]>["kept"];
};

/** The fields of a request; each may be missing. */
export type PatchOf<F extends Fields> = {
  readonly [K in keyof F as [Of<F[K]>["given"]] extends [never] ? never : K]?: Of<F[K]>["given"] | undefined;
};

/** The fields of a new one: those that are required are there. */
export type NewOf<F extends Fields> = PatchOf<F> & {
  readonly [K in keyof F as Of<F[K]>["needed"] extends true ? K : never]: Of<F[K]>["given"];
};

/** A row as answers show it, without what is derived. */
export type ShownOf<F extends Fields, I extends IdKind = IdKind> = {
  readonly id: IdOf<I>;
  readonly created_at: Date;
  readonly updated_at: Date;
} & { readonly [K in keyof F & string as Of<F[K]>["shown"] extends true ? K : never]: Of<F[K]>["kept"] } & {
  readonly [K in keyof F & string as Of<F[K]>["info"] extends true ? `${K}_info` : never]: string | null;
};
