/** A call of a model and the connector that it goes through, checked; the same for every protocol. Pure. */
import { isObject, mistakes, Type, type FieldErrors } from "platform";
import { isHeaderValue } from "../connectors/api.ts";
import { schemaMistake, type Schema } from "./schema.ts";

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: unknown;
}

export type Message =
  | { readonly role: "user"; readonly content: string }
  | { readonly role: "assistant"; readonly content: string; readonly toolCalls: readonly ToolCall[] }
  | { readonly role: "tool"; readonly content: string; readonly toolCallId: string };

export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly parameters: Schema;
}

export interface Chat {
  readonly system: string;
  readonly messages: readonly Message[];
  readonly tools: readonly Tool[];
  /** The schema of a JSON answer. */
  readonly schema: Schema | undefined;
  readonly maxTokens: number | undefined;
  readonly temperature: number | undefined;
}

/** A call before its prompt is filled in. */
export interface ChatRequest extends Chat {
  readonly prompt: { readonly code: string; readonly variables: Readonly<Record<string, unknown>> } | undefined;
}

type Params = Readonly<Record<string, unknown>>;
type AddMistake = (field: string, message: string) => void;

/** The parameters of the method `chat`. */
export const chatParameters = ["messages", "prompt", "variables", "system", "schema", "tools", "max_tokens"];

const most = { messages: 500, chars: 1_000_000, tools: 64, calls: 64 };

/** Throws the 422 that names every wrong parameter. */
export function chatOf(params: Params): ChatRequest {
  const found = mistakes();
  const request: ChatRequest = {
    prompt: promptOf(params, found.add),
    system: textOf(params["system"], "system", found.add),
    messages: messagesOf(params["messages"] ?? [], found.add),
    tools: toolsOf(params["tools"] ?? [], found.add),
    schema: schemaOf(params["schema"] ?? undefined, found.add),
    maxTokens: params["max_tokens"] == null || !isTokens(params["max_tokens"]) ? undefined : params["max_tokens"],
    temperature: typeof params["temperature"] === "number" ? params["temperature"] : undefined,
  };
  const { max_tokens: maxTokens, temperature } = params;
  if (maxTokens != null && !isTokens(maxTokens))
    found.add("max_tokens", `must be a whole number up to ${limits.tokens}`);
  if (temperature != null && !(typeof temperature === "number" && temperature >= 0 && temperature <= 2))
    found.add("temperature", "must be a number from 0 to 2");
  const chars = request.system.length + request.messages.reduce((sum, { content }) => sum + content.length, 0);
  if (chars > most.chars) found.add("messages", `may have at most ${most.chars} characters together`);
  if (!found.any && request.messages.length === 0 && !request.prompt)
    found.add("messages", "is required, or `prompt`: the code of a prompt");
  found.check();
  return request;
}

function textOf(value: unknown, field: string, wrong: AddMistake): string {
  if (value === undefined || value === null) return "";
  if (typeof value === "string") return value.toWellFormed();
  wrong(field, "must be a text");
  return "";
}

function promptOf({ prompt, variables }: Params, wrong: AddMistake): ChatRequest["prompt"] {
  if (variables != null && !isObject(variables)) wrong("variables", "must be an object");
  if (prompt === undefined || prompt === null) return undefined;
  if (typeof prompt !== "string" || prompt === "") wrong("prompt", "must be the code of a prompt");
  return { code: typeof prompt === "string" ? prompt : "", variables: isObject(variables) ? variables : {} };
}

function schemaOf(schema: unknown, wrong: AddMistake): Schema | undefined {
  if (schema === undefined) return undefined;
  const mistake = isObject(schema) ? schemaMistake(schema) : "must be a JSON schema";
  if (mistake !== undefined) wrong("schema", mistake);
  return isObject(schema) ? schema : undefined;
}

function messagesOf(given: unknown, wrong: AddMistake): Message[] {
  if (!Array.isArray(given) || given.length > most.messages) {
    wrong("messages", `must be a list of at most ${most.messages} { role, content }`);
    return [];
  }
  return given.flatMap(
    (one: unknown, at) => messageOf(one, (message) => wrong("messages", `[${at}] ${message}`)) ?? [],
  );
}

function messageOf(given: unknown, wrong: (message: string) => void): Message | undefined {
  if (!isObject(given)) {
    wrong("must be { role, content }");
    return undefined;
  }
  const content = textOf(given["content"], "content", (_, message) => wrong(`content ${message}`));
  const { role, tool_call_id: toolCallId, tool_calls: calls } = given;
  if (role === "user") return { role, content };
  if (role === "assistant") return { role, content, toolCalls: callsOf(calls ?? [], wrong) };
  if (role === "tool" && typeof toolCallId === "string") return { role, content, toolCallId };
  wrong(
    role === "tool"
      ? "tool_call_id is required: the id of the answered call"
      : "role must be user, assistant or tool; a `system` text is a parameter",
  );
  return undefined;
}

function callsOf(given: unknown, wrong: (message: string) => void): ToolCall[] {
  const list: unknown[] = Array.isArray(given) && given.length <= most.calls ? given : [undefined];
  return list.flatMap((one) => {
    if (isObject(one) && typeof one["id"] === "string" && typeof one["name"] === "string")
      return { id: one["id"], name: one["name"], arguments: one["arguments"] ?? {} };
    wrong("tool_calls must be a list of { id, name, arguments }");
    return [];
  });
}

function toolsOf(given: unknown, wrong: AddMistake): Tool[] {
  if (!Array.isArray(given) || given.length > most.tools) {
    wrong("tools", `must be a list of at most ${most.tools} { name, description, parameters }`);
    return [];
  }
  return given.flatMap((one: unknown, at) => {
    const { name, description = "", parameters = { type: "object" } } = isObject(one) ? one : {};
    if (typeof name !== "string" || !/^[A-Za-z0-9_-]{1,64}$/.test(name))
      wrong("tools", `[${at}] name must be letters, digits, - and _, at most 64`);
    else if (typeof description !== "string") wrong("tools", `[${at}] description must be a text`);
    else if (!isObject(parameters)) wrong("tools", `[${at}] parameters must be a JSON schema`);
    else return { name, description, parameters };
    return [];
  });
}

type Fields = Readonly<Record<string, unknown>>;

// The definition of a model connector: its `url` and `fields`, read and checked.

export const apis = ["openai", "anthropic"] as const;
export type Api = (typeof apis)[number];

export const limits = {
  /** For a whole call, a second attempt included. */
  seconds: 180,
  bytes: 5_000_000,
  /** Calls of a connector: each may take minutes and costs money. */
  atOnce: 20,
  tokens: 1_000_000,
  modelChars: 200,
};
const standardSeconds = 120;

/** For forms and documentation: `checkDefinition` decides. */
export const connectorFields = Type.Object({
  api: Type.Union(
    apis.map((api) => Type.Literal(api)),
    { description: "`openai` is also what Ollama, llama.cpp, vLLM and most gateways speak" },
  ),
  model: Type.String({ description: "the model's name, as its server calls it" }),
  max_tokens: Type.Optional(Type.Integer({ description: "the longest answer, if a call names no other limit" })),
  timeout: Type.Optional(Type.Number({ description: `seconds for a whole answer, up to ${limits.seconds}` })),
});

export interface ModelServer {
  readonly url: string;
  readonly api: Api;
  readonly model: string;
  readonly maxTokens: number | undefined;
  readonly seconds: number;
}

/** The definition that `checkDefinition` accepted. */
export function serverOf(url: string, fields: Fields): ModelServer {
  const { api, model, max_tokens: maxTokens, timeout } = fields;
  return {
    url,
    api: apis.find((known) => known === api) ?? "openai",
    model: typeof model === "string" ? model : "",
    maxTokens: typeof maxTokens === "number" ? maxTokens : undefined,
    seconds: typeof timeout === "number" ? timeout : standardSeconds,
  };
}

export function checkDefinition({ url, fields }: { url: string; fields: Fields }): FieldErrors {
  const wrongUrl = urlMistake(url);
  const wrong: string[] = [];
  const { api, model, max_tokens: maxTokens, timeout } = fields;
  if (!apis.some((known) => known === api)) wrong.push(`api must be ${apis.join(" or ")}`);
  if (typeof model !== "string" || model.trim() === "") wrong.push("model is required: the name of a model");
  else if (model.length > limits.modelChars || !isHeaderValue(model)) wrong.push("model must be one short line");
  if (maxTokens !== undefined && !isTokens(maxTokens))
    wrong.push(`max_tokens must be a whole number up to ${limits.tokens}`);
  if (timeout !== undefined && !(typeof timeout === "number" && timeout > 0 && timeout <= limits.seconds))
    wrong.push(`timeout must be a number of seconds up to ${limits.seconds}`);
  return { ...(wrongUrl === undefined ? {} : { url: [wrongUrl] }), ...(wrong.length > 0 ? { fields: wrong } : {}) };
}

export function isTokens(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0 && value <= limits.tokens;
}

function urlMistake(url: string): string | undefined {
  const parsed = URL.parse(url);
  if (!parsed || !/^https?:\/\//i.test(url)) return "must be an absolute http or https address";
  if (parsed.username !== "" || parsed.password !== "")
    return "must not carry a user name or password: use secret_token";
  if (parsed.search !== "" || parsed.hash !== "") return "must end after the path";
  return undefined;
}
