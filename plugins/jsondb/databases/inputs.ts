/** The body of a request about a database, and its fields as they are stored. */
import { field, forbidden, Type, type Caller } from "platform";
import type { DbInput as DbFields } from "./database-store.ts";
import { operations } from "./public-methods.ts";
import { schemaKeys } from "./schema.ts";

const Code = Type.String({
  pattern: "^(?:[A-Za-z0-9][A-Za-z0-9_-]*)?$",
  maxLength: 100,
  description: "letters, digits, - and _",
});
/** The keys are told to clients; `parseSchema` and `parsePublicMethods` judge the values. */
const objectOf = (keys: readonly string[], description: string) => {
  const properties = Object.fromEntries(keys.map((key) => [key, Type.Optional(Type.Unknown())]));
  return Type.Union([Type.Unsafe<Record<string, unknown>>(Type.Object(properties)), Type.Null()], { description });
};
const schemaText =
  '`fields` and their types, `indexed_fields`, and `sorts`: pairs such as `["category", "-score"]` of a filter and an order that get an index of their own; or `tables` of such';
const uuidForm = "^[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$";
const fields = {
  code: Type.Optional(field.nullable(Code)),
  app_id: Type.Optional(field.nullable(Type.String({ pattern: uuidForm, description: "a UUID" }))),
  schema: Type.Optional(objectOf(schemaKeys, schemaText)),
  public_methods: Type.Optional(objectOf(operations, "what visitors may do")),
  fields: Type.Optional(Type.Unsafe<Record<string, unknown>>(Type.Object({}, { additionalProperties: true }))),
};
export const DbInput = Type.Object({ name: field.name(), ...fields });
export const DbPatchInput = Type.Object({ name: Type.Optional(field.name()), ...fields });

/** 403 if the caller links another app without the privilege `apps`. */
export function mustNameApp(caller: Caller, appId: string | null | undefined, before: string | null): void {
  if (appId && appId.toLowerCase() !== before && !caller.privileges.has("apps"))
    throw forbidden("`app_id`: linking an app needs the privilege `apps`");
}

interface Body {
  readonly name?: string;
  readonly code?: string | null;
  readonly app_id?: string | null;
  readonly schema?: Record<string, unknown> | null;
  readonly public_methods?: Record<string, unknown> | null;
  readonly fields?: Record<string, unknown>;
}

export function inputOf(body: Body): DbFields {
  return {
    name: body.name,
    code: body.code === null || body.code === "" ? undefined : body.code,
    appId: body.app_id,
    schema: body.schema,
    publicMethods: body.public_methods,
    fields: body.fields,
  };
}
