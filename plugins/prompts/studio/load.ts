/** Requests of the pages of prompts. */
import { get, isMap, request, session, textOf } from "studio";
import type { CodeWord } from "studio";
import { parseFrontMatter } from "../front-matter.ts";
import type { BuiltIn, Cascade, PromptItem } from "./prompt.ts";

let builtIns: Promise<readonly BuiltIn[]> | undefined;
let words: Promise<readonly CodeWord[]> | undefined;

/** They change with an installation only. */
export function loadBuiltIns(): Promise<readonly BuiltIn[]> {
  builtIns ??= get("/core/prompts/system.json?limit=1000").then(({ json }) => json as BuiltIn[]); // as documented
  builtIns.catch(() => (builtIns = undefined));
  return builtIns;
}

/** Visible prompts, with one code or all. */
export async function loadStored(code: string | undefined, signal: AbortSignal): Promise<readonly PromptItem[]> {
  const query = code === undefined ? "" : `&code=${encodeURIComponent(code)}`;
  return (await get(`/core/prompts.json?limit=1000${query}`, signal)).json as PromptItem[]; // as documented
}

/** The variables and filters that the editor offers. */
export function loadWords(): Promise<readonly CodeWord[]> {
  words ??= get("/core/prompts/words.json").then(({ json }) => wordsOf(json));
  words.catch(() => (words = undefined));
  return words;
}

function wordsOf(json: unknown): CodeWord[] {
  if (!isMap(json)) return [];
  const { variables, filters } = json;
  return [
    ...(Array.isArray(variables) ? variables : []).map((one: unknown): CodeWord => {
      const { name, about } = isMap(one) ? one : {};
      return { label: textOf(name), type: "variable", detail: textOf(about) };
    }),
    ...(Array.isArray(filters) ? filters : []).map((name): CodeWord => ({ label: String(name), type: "filter" })),
  ];
}

export async function loadCascade(code: string, userId: string | null): Promise<Cascade> {
  const query = new URLSearchParams({ code, ...(userId !== null && { user_id: userId }) });
  return (await get(`/core/prompts/cascade.json?${query}`)).json as Cascade; // as documented
}

/** The text of a built-in prompt, without what stands between the dashes at its head. */
export async function builtInText(code: string, signal?: AbortSignal): Promise<string> {
  const { json } = await get(`/core/prompts/system/${encodeURIComponent(code)}.md`, signal);
  return parseFrontMatter(textOf(json)).text;
}

/** Stores a prompt that is the built-in one, for the person or for all; answers with its id. */
export async function override(builtIn: BuiltIn, forAll: boolean): Promise<string> {
  const { code, name, kind, ai_placeholder } = builtIn;
  const content = await builtInText(code);
  return create({ code, name: name ?? code, kind, ai_placeholder, content, scope: forAll ? "account" : "user" });
}

export async function create(prompt: Readonly<Record<string, unknown>>): Promise<string> {
  const { json } = await request("POST", "/core/prompts.json", { body: { prompt } });
  return isMap(json) ? textOf(json["id"]) : "";
}

/** By id; those that one may not see are left out. */
export async function loadPeople(): Promise<ReadonlyMap<number, string>> {
  const own: [number, string] = [session.person.id, session.person.name];
  if (!session.resources.some(({ path }) => path === "/account/users")) return new Map([own]);
  const { json } = await get("/account/users.json?limit=1000");
  const all = (Array.isArray(json) ? json : []).flatMap((one: unknown): [number, string][] =>
    isMap(one) && typeof one["id"] === "number" ? [[one["id"], textOf(one["name"]) || textOf(one["login"])]] : [],
  );
  return new Map([...all, own]);
}
