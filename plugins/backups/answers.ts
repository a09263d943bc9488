import { answer, field, Type } from "platform";

export const backupKinds = ["backup", "base", "wal"] as const;
export const backupStates = ["running", "good", "failed"] as const;

export const Backup = answer.object("Backup", {
  id: Type.Integer(),
  kind: field.oneOf(backupKinds),
  state: field.oneOf(backupStates),
  file: field.nullable(Type.String()),
  bytes: field.nullable(Type.Integer()),
  verified: Type.Boolean(),
  error: field.nullable(Type.String()),
  started_at: answer.time(),
  ended_at: field.nullable(answer.time()),
  removed_at: field.nullable(answer.time()),
});
