/** TypeBox types for body fields, with the limits that apply to every field. */
import { Type, type TSchema } from "@sinclair/typebox";

const lineLength = 255;

export const field = {
  /** One line that must not be blank. */
  name: (maxLength = lineLength) =>
    Type.String({ minLength: 1, maxLength, pattern: String.raw`\S`, description: "not blank" }),
  /** One line, or null. */
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
};
