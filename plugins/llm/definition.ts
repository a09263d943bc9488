/** Reads and checks a model connector's `url` and `fields`. Pure. */
import { Type, type FieldErrors } from "platform";
import { isHeaderValue } from "../connectors/api.ts";

type Fields = Readonly<Record<string, unknown>>;

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
