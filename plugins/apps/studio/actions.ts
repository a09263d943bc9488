/** The actions of an app as rows of a form, and as the JSON that its field holds. Pure. */
import { isMap, parseJson } from "studio/exact";

export interface ActionRow {
  readonly action: string;
  readonly flow_code: string;
  readonly description: string;
  readonly public: boolean;
}

export const noAction: ActionRow = { action: "", flow_code: "", description: "", public: false };

export function rowsOf(json: string): ActionRow[] {
  const given: unknown = json.trim() === "" ? [] : JSON.parse(json);
  return Array.isArray(given) ? given.map(rowOf) : [];
}

export function jsonOf(rows: readonly ActionRow[]): string {
  return rows.length === 0 ? "[]" : JSON.stringify(rows, null, 2);
}

/** Reads the input of an action: a JSON object, or nothing. Undefined if it is neither. */
export function valuesOf(text: string): object | undefined {
  try {
    const given = text.trim() === "" ? {} : parseJson(text);
    return isMap(given) ? given : undefined;
  } catch {
    return undefined;
  }
}

/** `The weather in { city }` -> `{ "city": "" }`: what its description says that it takes. */
export function sampleOf(description: string): string {
  const named = /\{([^{}]{1,500})\}/.exec(description)?.[1] ?? "";
  const names = named.split(",").map((name) => name.trim());
  return JSON.stringify(Object.fromEntries(names.filter((name) => /^\w{1,100}$/.test(name)).map((name) => [name, ""])));
}

function rowOf(given: unknown): ActionRow {
  const row: Readonly<Record<string, unknown>> = typeof given === "object" && given !== null ? { ...given } : {};
  const text = (name: string) => (typeof row[name] === "string" ? row[name] : "");
  return {
    action: text("action"),
    flow_code: text("flow_code"),
    description: text("description"),
    public: row["public"] === true,
  };
}
