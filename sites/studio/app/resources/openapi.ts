/** The parts of an OpenAPI 3.1 document that the Studio reads (/openapi.json). */

/** A JSON Schema (draft 2020-12) as this server writes it. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly (string | number | null)[];
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly description?: string;
  readonly format?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: unknown;
  readonly contentMediaType?: string;
  /** The format of a text that the server reads itself. */
  readonly "x-format"?: string;
  readonly "x-choices"?: readonly Choices[];
  /** For which values of other fields this one matters. */
  readonly "x-when"?: Readonly<Record<string, readonly string[]>>;
  /** Of each group a new thing needs one field, if it matters: the writer asks for it, not the schema. */
  readonly "x-needs"?: readonly (readonly string[])[];
  /** Of an answer: what its resource calls its fields, and what the log of activity calls the resource. */
  readonly "x-fields"?: Readonly<Record<string, FieldWords>>;
  readonly "x-model"?: string;
  /** The schema depends on another field's value. */
  readonly "x-by"?: { readonly field: string; readonly schemas: Readonly<Record<string, Schema>> };
}

/** Words for people, by the Studio's language. */
type Label = Readonly<Record<"en" | "pl" | "de", string>>;

/** A field in words, as its resource declares it. */
export interface FieldWords {
  readonly label: Label;
  readonly help?: Label;
  /** Its values in words. */
  readonly choices?: Readonly<Record<string, Label>>;
  readonly widget?: "line" | "text" | "secret" | "list" | "time" | "date" | "json";
}

/** Where the choices of a field are (`field.from` of the platform). */
export interface Choices {
  readonly values?: readonly string[];
  readonly path?: string;
  readonly value?: string;
  readonly where?: readonly string[];
  readonly when?: Readonly<Record<string, string>>;
}

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema?: Schema; readonly example?: unknown }>>;
}

export interface OperationDoc {
  readonly summary: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly "x-privilege"?: string;
  /** Where a person sees what is answered: `/w/{site_code}/{path}`. */
  readonly "x-shown-at"?: string;
  /** The values of a thing's fields with which it can succeed. */
  readonly "x-when"?: Readonly<Record<string, readonly string[]>>;
  readonly parameters?: readonly {
    readonly $ref?: string;
    readonly name?: string;
    readonly in?: string;
    readonly description?: string;
    readonly schema?: Schema;
  }[];
  readonly requestBody?: Content;
  readonly responses: Readonly<Record<string, Content>>;
}

export interface Document {
  readonly paths: Readonly<Record<string, Readonly<Partial<Record<string, OperationDoc>>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** The schema that a reference names; itself where it is none. */
export function resolved(schema: Schema, { components }: Document): Schema {
  const name = schema.$ref?.split("/").at(-1);
  return (name !== undefined && components.schemas[name]) || schema;
}

/** The types that a schema allows, without `null`. */
export function typesOf({ type }: Schema): string[] {
  return [type ?? []].flat().filter((one) => one !== "null");
}

export function isNullable({ type, anyOf = [] }: Schema): boolean {
  return [type ?? []].flat().includes("null") || anyOf.some(isNullable);
}
