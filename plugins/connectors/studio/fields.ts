/** The `fields` of a connector, taken apart for its form and put together again. Pure. */
import { isMap } from "studio/exact";
import { objectIn, type Values } from "./methods.ts";

export interface SplitFields {
  /** JSON texts, as they are typed. */
  readonly methods: string;
  readonly auth: Values | undefined;
  /** Everything else. */
  readonly rest: string;
}

/** Undefined if the text is no JSON object. */
export function apart(text: string): SplitFields | undefined {
  const whole = objectIn(text);
  if (!whole) return undefined;
  const { methods, auth, ...rest } = whole;
  return {
    methods: methods === undefined ? "" : JSON.stringify(methods, null, 2),
    auth: isMap(auth) ? auth : undefined,
    rest: Object.keys(rest).length === 0 ? "" : JSON.stringify(rest, null, 2),
  };
}

/** The text of the whole; no JSON if one of its parts is none, so that it is not sent. */
export function together({ methods, auth, rest }: SplitFields): string {
  const others = objectIn(rest);
  if (!others) return rest;
  const texts = [
    ...(auth ? [["auth", JSON.stringify(auth)]] : []),
    ...(methods.trim() === "" || methods.trim() === "{}" ? [] : [["methods", methods]]),
    ...Object.entries(others).map(([name, value]) => [name, JSON.stringify(value)]),
  ];
  if (texts.length === 0) return "";
  const text = `{${texts.map(([name, json]) => `${JSON.stringify(name)}: ${json}`).join(",\n")}}`;
  const whole = objectIn(text);
  return whole ? JSON.stringify(whole, null, 2) : text;
}

export type AuthPlace = "bearer" | "header" | "query";

export function placeOf(auth: Values | undefined): AuthPlace {
  if (auth?.["in"] === "query") return "query";
  const isBearer = Object.keys(auth ?? {}).every((name) => name === "in" && auth?.[name] === "header");
  return isBearer ? "bearer" : "header";
}

export function authAt(place: AuthPlace, before: Values | undefined): Values | undefined {
  if (place === "bearer") return undefined;
  const name = typeof before?.["name"] === "string" ? before["name"] : "";
  return { in: place, name };
}

/** The messages by what they are about. */
export function sorted(messages: readonly string[]): Record<"methods" | "auth" | "rest", string[]> {
  const found: Record<"methods" | "auth" | "rest", string[]> = { methods: [], auth: [], rest: [] };
  for (const message of messages) {
    const about = /^(methods|auth)[.\s]/.exec(message)?.[1];
    found[about === "methods" || about === "auth" ? about : "rest"].push(message);
  }
  return found;
}
