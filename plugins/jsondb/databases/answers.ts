/** The answers of the routes for databases. */
import { answer, field, Type } from "platform";

const text = Type.String();

export const Db = answer.object("Db", {
  id: answer.uuid(),
  name: text,
  code: text,
  app_id: field.nullable(answer.uuid()),
  schema: Type.Unsafe<unknown>(field.nullable(answer.json())),
  public_methods: Type.Unsafe<unknown>(field.nullable(answer.json())),
  fields: Type.Unsafe<unknown>(answer.json()),
  created_by_id: field.nullable(Type.Integer()),
  updated_by_id: field.nullable(Type.Integer()),
  created_at: answer.time(),
  updated_at: answer.time(),
});
