/** Schemas of the answers of the prompts' routes. */
import { answer, field, Type } from "platform";
import { scopes } from "./cascade.ts";

export const BuiltInPrompt = answer.object("BuiltInPrompt", {
  code: Type.String(),
  name: field.nullable(Type.String()),
  kind: field.oneOf(["chat", "agent"]),
  ai_placeholder: field.nullable(Type.String()),
  plugin: Type.String(),
  url: Type.String(),
});

export const PromptPreview = answer.object("PromptPreview", {
  text: Type.String(),
  variables: Type.Array(Type.String()),
  joined_to: field.nullable(Type.String()),
});

const CascadeStep = answer.object("PromptCascadeStep", {
  id: field.nullable(answer.uuid()),
  name: field.nullable(Type.String()),
  scope: field.oneOf([...scopes, "built_in"]),
  scope_id: field.nullable(Type.Integer()),
  scope_name: field.nullable(Type.String()),
  version: field.nullable(Type.Integer()),
  plugin: field.nullable(Type.String()),
  used: Type.Boolean(),
});

export const PromptCascade = answer.object("PromptCascade", {
  code: Type.String(),
  user_id: Type.Integer(),
  user_name: Type.String(),
  prompts: Type.Array(CascadeStep),
  extras: Type.Array(CascadeStep),
});

export const PromptWords = answer.object("PromptWords", {
  variables: Type.Array(answer.object("PromptVariable", { name: Type.String(), about: Type.String() })),
  filters: Type.Array(Type.String()),
});

export const Markdown = answer.text("text/markdown");
