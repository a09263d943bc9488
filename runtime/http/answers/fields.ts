/** TypeBox types for body fields, with the limits that apply to every field. */
import { Type, type TObject, type TSchema } from "@sinclair/typebox";

const lineLength = 255;

/**
 * Where the choices of a field are: `values`, or of each row at `path` what it has at `value`. `where` names fields that
 * a row and the form must have in common; `when` says for which values of another field the choices hold.
 */
interface Choices {
  /** Asked for when the description is read. */
  readonly values?: () => readonly string[];
  readonly path?: `/${string}.json`;
  readonly value?: string;
  readonly where?: readonly string[];
  readonly when?: Readonly<Record<string, string>>;
}

type Needs = readonly (readonly string[])[];

export const field = {
  /** A short text that must not be blank. A form shows one line; breaks are stored as they come. */
  name: (maxLength = lineLength) =>
    Type.String({ minLength: 1, maxLength, pattern: String.raw`\S`, description: "not blank" }),
  /** A short text of that kind, blank too, or null. */
  line: (maxLength = lineLength) => Type.Union([Type.String({ maxLength }), Type.Null()]),
  /** Required long text. */
  text: (maxLength: number) => Type.String({ minLength: 1, maxLength }),
  /** A code in addresses: letters, digits, `_`, `-` and `.` inside. */
  code: () =>
    Type.String({
      pattern: "^[A-Za-z0-9](?:[A-Za-z0-9_-]|\\.(?=[A-Za-z0-9_-]))*$",
      maxLength: 100,
      description: "letters, digits, - and _",
    }),
  oneOf: <const T extends readonly string[]>(values: T) =>
    Type.Union(values.map((value: T[number]) => Type.Literal(value))),
  flag: () => Type.Boolean(),
  id: () => Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
  ids: () => Type.Array(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }), { maxItems: 1000 }),
  object: () => Type.Record(Type.String(), Type.Unknown()),
  names: (maxItems = 100) => Type.Array(Type.String({ minLength: 1, maxLength: lineLength }), { maxItems }),
  /** A code, or null. */
  nullable: <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()]),
  /** Tells forms what can be chosen (`x-choices` in /openapi.json). What may be written stays as it is. */
  from: <S extends TSchema>(schema: S, ...choices: readonly Choices[]): S => ({ ...schema, "x-choices": choices }),
  /** Tells forms what an object holds for each value of another field (`x-by`). */
  by: <S extends TSchema>(schema: S, name: string, schemas: () => Readonly<Record<string, TSchema>>): S => ({
    ...schema,
    "x-by": { field: name, schemas },
  }),
  /** Tells forms for which values of other fields this one matters (`x-when`). */
  when: <S extends TSchema>(schema: S, values: Readonly<Record<string, readonly string[]>>): S => ({
    ...schema,
    "x-when": values,
  }),
  /**
   * Tells forms what a new thing needs beyond what the schema requires (`x-needs`): of each group one field, if it
   * matters. The writer checks it, so that its 422 can name everything that is missing at once.
   */
  needs: <S extends TObject>(schema: S, needs: Needs | (() => Needs)): S => ({ ...schema, "x-needs": needs }),
};
