import { answer, field, Type } from "platform";

export const certificateStates = ["valid", "waiting", "failed", "expired"] as const;

export const Certificate = answer.object("Certificate", {
  host: Type.String(),
  state: field.oneOf(certificateStates),
  not_before: field.nullable(answer.time()),
  expires_at: field.nullable(answer.time()),
  renew_at: field.nullable(answer.time()),
  failures: Type.Integer(),
  last_error: field.nullable(Type.String()),
  try_at: field.nullable(answer.time()),
  ordered_at: field.nullable(answer.time()),
});
