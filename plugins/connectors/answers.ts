/** What the routes of connectors answer with. */
import { answer, field, Type } from "platform";

export const Connector = answer.object("Connector", {
  id: answer.uuid(),
  name: Type.String(),
  code: Type.String(),
  kind: Type.String(),
  url: Type.String(),
  secret_token_info: field.nullable(Type.String()),
  fields: answer.json(),
  active: Type.Boolean(),
  created_at: answer.time(),
  updated_at: answer.time(),
});

/** `status` is null where the connector speaks no HTTP. */
export const ConnectorAnswer = answer.object("ConnectorAnswer", {
  status: field.nullable(Type.Integer()),
  data: Type.Unknown(),
});
/** Without an answer of the remote `status` and `data` are null. */
export const ConnectorFailure = answer.object("ConnectorFailure", {
  error: field.nullable(Type.String()),
  status: field.nullable(Type.Integer()),
  data: Type.Unknown(),
});
