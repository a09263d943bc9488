/** Schemas of the answers of the apps' routes. */
import { answer, field, Type } from "platform";
import { appEngines, cssEngines } from "./choices.ts";

const text = Type.String();
const orNull = field.nullable;

const AppAction = answer.object("AppAction", {
  action: text,
  flow_code: text,
  description: Type.Optional(orNull(text)),
  public: Type.Optional(Type.Boolean()),
});

const saved = {
  name: text,
  url_code: text,
  description: orNull(text),
  app_engine: field.oneOf(appEngines),
  css_engine: field.oneOf(cssEngines),
  source_code: text,
  public: Type.Boolean(),
  active: Type.Boolean(),
  db_code: orNull(text),
  show_in_module: orNull(text),
  dashboard_widget: Type.Boolean(),
  prompt: orNull(text),
  actions: answer.list(AppAction),
  fields: answer.json(),
  config: answer.json(),
};

export const App = answer.object("App", {
  id: answer.uuid(),
  ...saved,
  trusted: Type.Boolean(),
  app_build_time: Type.Integer(),
  css_build_time: Type.Integer(),
  created_by_id: orNull(Type.Integer()),
  updated_by_id: orNull(Type.Integer()),
  created_at: answer.time(),
  updated_at: answer.time(),
});

export const AppVersion = answer.object("AppVersion", {
  version: Type.Integer(),
  created_at: answer.time(),
  created_by_id: orNull(Type.Integer()),
  ...saved,
});

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
