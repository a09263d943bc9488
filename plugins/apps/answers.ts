/** Schemas of the answers of the apps' routes. */
import { answer, field, Type } from "platform";

const text = Type.String();
const orNull = field.nullable;

export const AppPreview = answer.object("AppPreview", {
  url: text,
  expires_at: answer.time(),
  source_lines: orNull(answer.list(Type.Integer())),
});

export const AppToken = answer.object("AppToken", {
  token: text,
  expires_in: Type.Integer(),
  expires_at: answer.time(),
});

export const EmbeddedApp = answer.object("EmbeddedApp", {
  id: answer.uuid(),
  name: text,
  url_code: text,
  url: text,
  description: orNull(text),
  app_engine: text,
  public: Type.Boolean(),
  show_in_module: orNull(text),
  db_code: orNull(text),
  home_width: orNull(Type.Integer()),
});

export const ModuleApps = answer.object("ModuleApps", { name: text, apps: answer.list(EmbeddedApp) });

export const ActionRun = answer.object("ActionRun", {
  flow_process_id: answer.uuid(),
  status: field.oneOf(["pending", "finished"]),
  data: Type.Unknown(),
});

export const ActionStatus = answer.object("ActionStatus", {
  status: field.oneOf(["pending", "finished", "error"]),
  data: Type.Unknown(),
  error: orNull(text),
});

export const StoredValue = answer.object("StoredValue", { key: text, value: Type.Unknown() });
