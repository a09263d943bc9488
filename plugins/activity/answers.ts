import { answer, field, Type } from "platform";

const Change = answer.object("ActivityChange", {
  old: Type.Optional(Type.Unknown()),
  new: Type.Optional(Type.Unknown()),
  old_size: Type.Optional(Type.Integer({ description: "characters of a value that is cut here" })),
  new_size: Type.Optional(Type.Integer({ description: "characters of a value that is cut here" })),
  secret: Type.Optional(Type.Boolean({ description: "it was changed; secrets are not logged" })),
});

/** One entry. */
export const Activity = answer.object("Activity", {
  id: Type.Integer(),
  at: answer.time(),
  action: Type.String(),
  model: field.nullable(Type.String()),
  record_id: field.nullable(Type.String()),
  name: field.nullable(Type.String()),
  actor: Type.String(),
  user_id: field.nullable(Type.Integer()),
  login: field.nullable(Type.String()),
  token_id: field.nullable(Type.Integer()),
  address: field.nullable(Type.String()),
  user_agent: field.nullable(Type.String()),
  request_id: field.nullable(Type.String()),
  app_id: field.nullable(Type.String()),
  process_id: field.nullable(Type.String()),
  command: field.nullable(Type.String()),
  changes: Type.Unsafe<Readonly<Record<string, unknown>>>(Type.Record(Type.String(), Change)),
  sealed: Type.Boolean({ description: "chained already, which takes a second" }),
});
