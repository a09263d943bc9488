/** The answers of the routes of connectors beside the usual five. */
import { answer, field, Type } from "platform";

export const ConnectorMethod = answer.object("ConnectorMethod", {
  name: Type.String(),
  description: field.nullable(Type.String()),
  parameters: Type.Array(Type.String()),
  public: Type.Boolean(),
});

/** `status` is null if the connector does not speak HTTP. */
export const ConnectorAnswer = answer.object("ConnectorAnswer", {
  status: field.nullable(Type.Integer()),
  data: Type.Unknown(),
});
/** `request` is null if the connector's kind does not tell it. */
export const ConnectorTrial = answer.object("ConnectorTrial", {
  ok: Type.Boolean(),
  status: field.nullable(Type.Integer()),
  data: Type.Unknown(),
  error: field.nullable(Type.String()),
  duration_ms: Type.Integer(),
  request: field.nullable(
    answer.object("ConnectorRequest", {
      method: Type.String(),
      url: Type.String(),
      headers: Type.Record(Type.String(), Type.String()),
      body: field.nullable(Type.String()),
    }),
  ),
});
/** If the remote did not answer, `status` and `data` are null. */
export const ConnectorFailure = answer.object("ConnectorFailure", {
  error: field.nullable(Type.String()),
  status: field.nullable(Type.Integer()),
  data: Type.Unknown(),
});
