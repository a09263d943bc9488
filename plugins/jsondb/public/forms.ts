/** What a browser's form sends to a public method: its fields are the record's, and all of them are texts. Pure. */
import { invalid } from "platform";
import type { Table } from "../databases/schema.ts";
import type { Data } from "../records/record.ts";

export interface Form {
  readonly params: Readonly<Record<string, unknown>>;
  /** Where the browser is led afterwards. */
  readonly next: string | undefined;
  /** It filled the field that people do not see. */
  readonly isRobot: boolean;
}

/** 422 for a `_next` that is no path of this site. */
export function formOf({ _next: next, _gotcha: gotcha, ...fields }: Record<string, unknown>): Form {
  if (next !== undefined && next !== "" && !isOwnPath(next)) throw invalid({ _next: ["must be a path of this site"] });
  const { id, ...data } = fields;
  return {
    // A new record has no id of its own yet: a field of this name is one of the record.
    params: { ...(id !== undefined && { id }), data: id === undefined ? data : fields },
    next: typeof next === "string" && next !== "" ? next : undefined,
    isRobot: gotcha !== undefined && [gotcha].flat().some((text) => text !== ""),
  };
}

const base = "http://site.invalid";

/** Browsers read a backslash as a slash, and drop control characters. */
function isOwnPath(next: unknown): next is string {
  if (typeof next !== "string" || next.length > 2000 || !/^\/(?![/\\])[^\s\\]*$/.test(next)) return false;
  return (
    URL.canParse(next, base) && new URL(next, base).origin === base && !new URL(next, base).pathname.startsWith("//")
  );
}

/** The texts as the schema wants them; what does not fit stays a text, and is refused as one. */
export function typedFields({ fields }: Pick<Table, "fields">, given: Data): Data {
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => [name, typedValue(fields.get(name)?.type, value)]),
  );
}

const booleans = new Map<string, boolean>([
  ...["true", "on", "1", "yes"].map((text) => [text, true] as const),
  ...["false", "off", "0", "no"].map((text) => [text, false] as const),
]);

function typedValue(type: string | undefined, value: unknown): unknown {
  if (type === "list") return [value].flat().filter((one) => one !== "");
  if (typeof value !== "string") return value;
  const text = value.trim();
  if (type === "boolean") return booleans.get(text.toLowerCase()) ?? value;
  if (type === "integer" && /^-?\d{1,15}$/.test(text)) return Number(text);
  // More digits would be rounded.
  if (type === "number" && /^-?\d{1,15}(?:\.\d{1,15})?$/.test(text) && text.replaceAll(/\D/g, "").length <= 15)
    return Number(text);
  return value;
}
