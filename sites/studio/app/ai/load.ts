/** Requests of the AI dialog. */
import { get, personHeader, refusalOf, request } from "../server/request.ts";
import { session } from "../state/session.svelte.ts";
import { isMap, textOf } from "../resources/values.ts";
import { choicesOf, type Choice } from "./choices.ts";

export async function loadChoices(): Promise<Choice[]> {
  const [stored, builtIn] = await Promise.all([
    session.may("prompts") ? get("/core/prompts.json?limit=1000") : { json: [] },
    get("/core/prompts/system.json?limit=1000"),
  ]);
  return choicesOf(stored.json, builtIn.json);
}

export interface Model {
  readonly code: string;
  readonly name: string;
}

/** Connectors that a conversation can use; undefined for those who may use none. */
export async function loadModels(): Promise<Model[] | undefined> {
  if (!session.may("flows")) return undefined;
  const { json } = await get(`/connect/connectors.json?limit=100&kind=${encodeURIComponent("core/llm")}`);
  return (Array.isArray(json) ? json : [])
    .filter(isMap)
    .filter(({ active }) => active === true)
    .map(({ code, name }) => ({ code: textOf(code), name: textOf(name) }));
}

/** The longest value that travels in an address. */
const mostChars = 500;

/** A prompt as an agent gets it. With a token it is that token's; else the server makes one for an hour. */
export async function loadInstruction(
  code: string,
  context: Readonly<Record<string, string>>,
  token: string | undefined,
  signal: AbortSignal,
): Promise<string> {
  const query = new URLSearchParams(Object.entries(context).filter(([, value]) => value.length <= mostChars));
  const response = await fetch(`/core/prompt/${encodeURIComponent(code)}.md?${query}`, {
    headers: token === undefined ? personHeader() : { authorization: `Bearer ${token}` },
    credentials: token === undefined ? "same-origin" : "omit",
    signal,
  });
  const text = await response.text();
  if (!response.ok) throw refusalOf(response.status, jsonOf(text));
  return text;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export interface Narrow {
  readonly name: string;
  readonly privileges: readonly string[];
  readonly hours: number;
  readonly readOnly: boolean;
}

export interface MadeToken extends Pick<Narrow, "privileges" | "readOnly"> {
  /** This is the only time that it is seen. */
  readonly token: string;
  readonly expiresAt: string;
}

export async function makeToken({ name, privileges, hours, readOnly }: Narrow): Promise<MadeToken> {
  const expiresAt = new Date(Date.now() + hours * 3_600_000).toISOString();
  const api_token = { name, privileges, expires_at: expiresAt };
  const { json } = await request("POST", "/account/api_tokens.json", { body: { api_token } });
  const { id, token } = isMap(json) ? json : {};
  if (readOnly) await limit(textOf(id));
  return { token: textOf(token), expiresAt, privileges, readOnly };
}

/** A token that could not be limited is of no use. */
async function limit(id: string): Promise<void> {
  try {
    await request("PATCH", `/core/tokens/${id}.json`, { body: { token: { read_only: true } } });
  } catch (error) {
    await request("DELETE", `/account/api_tokens/${id}.json`);
    throw error;
  }
}
