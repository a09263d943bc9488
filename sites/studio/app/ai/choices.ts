/** Which prompts can be asked: one of each code, as the cascade would find it. Pure. */
import { isMap, textOf } from "../resources/values.ts";

export interface Choice {
  readonly code: string;
  readonly name: string;
  readonly kind: "chat" | "agent";
  readonly placeholder: string;
  /** Of a stored prompt. */
  readonly ids: readonly string[];
  /** The app whose own prompt is the system's text: `code` is its id. */
  readonly isApp?: true;
}

const order = ["user", "team", "department", "account"];

/**
 * `stored` and `builtIn` as the API lists them. Instructions for agents (`…_api`) and additions (`…_extra`) are no
 * prompts to begin with, unless somebody has made a conversation of them; `ai_app` is that of the builder of apps.
 */
export function choicesOf(stored: unknown, builtIn: unknown): Choice[] {
  const found = new Map<string, Choice>();
  const rows = listOf(stored).toSorted((a, b) => order.indexOf(textOf(a["scope"])) - order.indexOf(textOf(b["scope"])));
  for (const row of [...rows, ...listOf(builtIn)]) {
    const code = textOf(row["code"]);
    const id = textOf(row["id"]);
    const known = found.get(code);
    if (known) found.set(code, { ...known, ids: id === "" ? known.ids : [...known.ids, id] });
    else if (code !== "" && !/_(?:api|extra)$|^ai_app$/.test(code))
      found.set(code, {
        code,
        name: textOf(row["name"]) || code,
        kind: row["kind"] === "agent" ? "agent" : "chat",
        placeholder: textOf(row["ai_placeholder"]),
        ids: id === "" ? [] : [id],
      });
  }
  return [...found.values()].toSorted((a, b) => a.name.localeCompare(b.name));
}

/** The app whose page it is, if it has a prompt. */
export function appChoice(record: unknown, id: string | undefined, name: string): Choice[] {
  const hasPrompt = isMap(record) && textOf(record["prompt"]).trim() !== "";
  return id !== undefined && hasPrompt ? [{ code: id, name, kind: "chat", placeholder: "", ids: [], isApp: true }] : [];
}

/** The prompt whose page it is, else the one that was asked last, else a conversation. */
export function firstChoice(
  choices: readonly Choice[],
  promptId: string | undefined,
  last: string | undefined,
): Choice | undefined {
  return (
    choices.find(({ ids, code }) => promptId !== undefined && (ids.includes(promptId) || code === promptId)) ??
    choices.find(({ code }) => code === last) ??
    choices.find(({ kind }) => kind === "chat") ??
    choices[0]
  );
}

function listOf(json: unknown): Readonly<Record<string, unknown>>[] {
  return Array.isArray(json) ? json.filter(isMap) : [];
}
