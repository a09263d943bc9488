/** The actions of an app as rows of a form, and as the JSON that its field holds. Pure. */
import { isMap, parseJson } from "studio/exact";

export interface ActionRow {
  readonly action: string;
  readonly flow_code: string;
  readonly description: string;
  readonly public: boolean;
}

export function rowsOf(json: string): ActionRow[] {
  const given: unknown = json.trim() === "" ? [] : JSON.parse(json);
  return Array.isArray(given) ? given.map(rowOf) : [];
}

export function jsonOf(rows: readonly ActionRow[]): string {
  return rows.length === 0 ? "[]" : JSON.stringify(rows, null, 2);
}

/** What the app may call a flow: its code, in the signs that an action's name may have, and not used yet. */
export function freeName(flowCode: string, rows: readonly ActionRow[]): string {
  const plain = flowCode.replaceAll(/[^A-Za-z0-9_-]/g, "_").slice(0, 90);
  const name = /^[A-Za-z]/.test(plain) ? plain : `run_${plain}`;
  let free = name;
  for (let at = 2; rows.some(({ action }) => action === free); at++) free = `${name}_${at}`;
  return free;
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
