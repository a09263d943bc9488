/** Trying a method: what is asked, and what came of it. Pure. */
import type { ShownRequest } from "../api.ts";
import { isMap } from "studio/exact";
import { bodyOf, objectIn, type Values } from "./methods.ts";

export interface Method {
  readonly name: string;
  readonly description: string | null;
  readonly parameters: readonly string[];
  readonly public: boolean;
}

export interface TrialResult {
  readonly ok: boolean;
  readonly status: number | null;
  readonly data: unknown;
  readonly error: string | null;
  readonly duration_ms: number;
  readonly request: ShownRequest | null;
}

/** Of methods whose parameters may mostly be left out. */
const samples: Readonly<Record<string, Values>> = {
  "core/llm chat": { messages: [{ role: "user", content: "Hello" }] },
};

/**
 * A JSON text to begin with: an example, or the names of the parameters with what was typed for those that another method
 * had too.
 */
export function bodyFor(
  kind: string,
  { name, parameters }: Pick<Method, "name" | "parameters">,
  before: string,
): string {
  const sample = samples[`${kind} ${name}`];
  if (sample) return JSON.stringify(sample, null, 2);
  const known = objectIn(before) ?? {};
  const at = (one: string) => (Object.hasOwn(known, one) ? known[one] : "");
  return JSON.stringify(Object.fromEntries(parameters.map((one) => [one, at(one)])), null, 2);
}

/** What the inputs show: texts as they are, other values as JSON. */
export function inputOf(text: string, name: string): string {
  const value = objectIn(text)?.[name];
  if (value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/**
 * The JSON text with one parameter changed, or without it if nothing is typed; lists and objects are typed as JSON. A text
 * that is no object stays as it is.
 */
export function withParameter(text: string, name: string, typed: string): string {
  const known = objectIn(text);
  if (!known) return text;
  const others = Object.entries(known).filter(([other]) => other !== name);
  if (typed === "") return JSON.stringify(Object.fromEntries(others), null, 2);
  return JSON.stringify({ ...known, [name]: /^[{[]/.test(typed) ? bodyOf(typed) : typed }, null, 2);
}

export function isTrial(value: unknown): value is TrialResult & Values {
  return isMap(value) && typeof value["ok"] === "boolean" && "request" in value;
}

export function isMethod(value: unknown): value is Method & Values {
  return isMap(value) && typeof value["name"] === "string" && Array.isArray(value["parameters"]);
}

/** What a model has said, or why it has not: the provider's own words behind the status. */
export function saidBy({ data, error }: Pick<TrialResult, "data" | "error">): string {
  const answer = isMap(data) ? data : {};
  if (error === null) return typeof answer["text"] === "string" ? answer["text"] : "";
  const own = isMap(answer["error"]) ? answer["error"]["message"] : answer["error"];
  return typeof own === "string" ? `${error}: ${own}` : error;
}
