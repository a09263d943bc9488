/** Trying a method: what is asked, and what came of it. Pure. */
import { isObject, objectIn, type Values } from "./methods.ts";

export interface Method {
  readonly name: string;
  readonly description: string | null;
  readonly parameters: readonly string[];
  readonly public: boolean;
}

export interface Request {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

export interface Trial {
  readonly ok: boolean;
  readonly status: number | null;
  readonly data: unknown;
  readonly error: string | null;
  readonly duration_ms: number;
  readonly request: Request | null;
}

/** A JSON text that names the parameters, with what was typed for those that another method had too. */
export function bodyFor(parameters: readonly string[], before: string): string {
  const known = objectIn(before) ?? {};
  const at = (name: string) => (Object.hasOwn(known, name) ? known[name] : "");
  return JSON.stringify(Object.fromEntries(parameters.map((name) => [name, at(name)])), null, 2);
}

/** What the inputs show: texts as they are, other values as JSON. */
export function inputOf(text: string, name: string): string {
  const value = objectIn(text)?.[name];
  if (value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** The JSON text with one parameter changed; a text that is no object stays as it is. */
export function withParameter(text: string, name: string, value: string): string {
  const known = objectIn(text);
  return known ? JSON.stringify({ ...known, [name]: value }, null, 2) : text;
}

export function isTrial(value: unknown): value is Trial & Values {
  return isObject(value) && typeof value["ok"] === "boolean" && "request" in value;
}

export function isMethod(value: unknown): value is Method & Values {
  return isObject(value) && typeof value["name"] === "string" && Array.isArray(value["parameters"]);
}
