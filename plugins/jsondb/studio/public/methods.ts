/** The public methods of a database as they are edited: what each operation is open for. Pure. */
import { isMap, parseJson } from "studio/exact";

export const operations = ["list", "get", "search", "create", "update", "delete"] as const;
export type Operation = (typeof operations)[number];

const nameOptions = ["allowed_fields", "required_fields", "allowed_params"] as const;
const valueOptions = ["default_values", "auto_fields"] as const;
export type Option = (typeof nameOptions)[number] | (typeof valueOptions)[number] | "scope_by" | "table_name";

/** Which options mean something for which operation. */
const optionsBy: Readonly<Record<Operation, readonly Option[]>> = {
  list: ["allowed_fields", "allowed_params", "scope_by", "table_name"],
  get: ["allowed_fields", "scope_by", "table_name"],
  search: ["allowed_fields", "allowed_params", "scope_by", "table_name"],
  create: ["allowed_fields", "required_fields", "default_values", "auto_fields", "table_name"],
  update: ["allowed_fields", "required_fields", "auto_fields", "scope_by", "table_name"],
  delete: ["scope_by", "table_name"],
};

export interface MethodDraft {
  readonly open: boolean;
  /** As typed. An option that is empty is left out. */
  readonly texts: Readonly<Partial<Record<Option, string>>>;
  /** Options that this page has no field for. */
  readonly others: Readonly<Record<string, unknown>>;
}

export type PublicDraft = Readonly<Record<Operation, MethodDraft>>;

export function optionsOf(operation: Operation, { texts }: MethodDraft): readonly Option[] {
  const own = optionsBy[operation];
  const given = (Object.keys(texts) as Option[]).filter((option) => !own.includes(option));
  return [...own, ...given];
}

export function isList(option: Option): boolean {
  return nameOptions.some((one) => one === option);
}

export function isValues(option: Option): boolean {
  return valueOptions.some((one) => one === option);
}

export function publicDraftOf(value: unknown): PublicDraft {
  const given = isMap(value) ? value : {};
  const draft = (operation: Operation) => methodOf(given[operation]);
  return {
    list: draft("list"),
    get: draft("get"),
    search: draft("search"),
    create: draft("create"),
    update: draft("update"),
    delete: draft("delete"),
  };
}

function methodOf(value: unknown): MethodDraft {
  const options = isMap(value) ? value : {};
  const texts: Partial<Record<Option, string>> = {};
  const others: Record<string, unknown> = {};
  for (const [name, option] of Object.entries(options)) {
    const known = [...nameOptions, ...valueOptions, "scope_by" as const, "table_name" as const].find(
      (one) => one === name,
    );
    if (known === undefined) others[name] = option;
    else if (option !== null) texts[known] = textOf(option);
  }
  return { open: value === true || isMap(value), texts, others };
}

function textOf(option: unknown): string {
  if (Array.isArray(option)) return option.join(", ");
  if (isMap(option)) return printValues(option);
  return String(option);
}

/** `{"status": "new", "stars": 5}` -> one `field = value` a line; a text that would be read as something else is quoted. */
export function printValues(values: Readonly<Record<string, unknown>>): string {
  return Object.entries(values)
    .map(
      ([name, value]) =>
        `${name} = ${typeof value === "string" && valueOf(value) === value ? value : JSON.stringify(value)}`,
    )
    .join("\n");
}

/** Undefined where a line has no `=`. */
export function readValues(text: string): Record<string, unknown> | undefined {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const entries = lines.map((line) => {
    const at = line.indexOf("=");
    return at < 1 ? undefined : ([line.slice(0, at).trim(), valueOf(line.slice(at + 1).trim())] as const);
  });
  return entries.includes(undefined)
    ? undefined
    : Object.fromEntries(entries.flatMap((entry) => (entry ? [entry] : [])));
}

/** JSON where it is one, else the text. `{ip}` is no JSON. */
function valueOf(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}

/** The JSON that is sent, or the operations whose values cannot be read. */
export function publicMethodsOf(
  draft: PublicDraft,
): { readonly value: Record<string, unknown> } | { readonly wrong: readonly Operation[] } {
  const wrong: Operation[] = [];
  const value: Record<string, unknown> = {};
  for (const operation of operations) {
    const { open, texts, others } = draft[operation];
    if (!open) continue;
    const options: Record<string, unknown> = { ...others };
    for (const [name, text] of Object.entries(texts) as [Option, string][]) {
      if (text.trim() === "") continue;
      const read = isList(name) ? namesIn(text) : isValues(name) ? readValues(text) : text.trim();
      if (read === undefined) wrong.push(operation);
      else options[name] = read;
    }
    value[operation] = Object.keys(options).length === 0 ? true : options;
  }
  return wrong.length > 0 ? { wrong } : { value };
}

export function namesIn(text: string): string[] {
  return [...new Set(text.split(",").map((name) => name.trim()))].filter((name) => name !== "");
}

/** Whether every visitor may change what others have written. */
export function isOpenToAll(operation: Operation, { open, texts }: MethodDraft): boolean {
  return open && (operation === "update" || operation === "delete") && !texts.scope_by?.trim();
}

/** A body to try an operation with: the fields that a visitor may send. */
export function exampleBody(
  operation: Operation,
  { texts }: MethodDraft,
  fields: readonly { readonly name: string; readonly type: string }[],
  id: string,
): Record<string, unknown> {
  const allowed = texts.allowed_fields?.trim() ? namesIn(texts.allowed_fields) : fields.map(({ name }) => name);
  const data = Object.fromEntries(
    allowed.slice(0, 8).map((name) => [name, exampleOf(fields.find((field) => field.name === name)?.type)]),
  );
  switch (operation) {
    case "list":
      return { limit: 5 };
    case "search":
      return { q: "", limit: 5 };
    case "create":
      return { data };
    case "update":
      return { id, data };
    default:
      return { id };
  }
}

function exampleOf(type: string | undefined): unknown {
  if (type === "integer" || type === "number") return 1;
  if (type === "boolean") return true;
  if (type === "date") return "2026-01-31";
  if (type === "time") return "10:00";
  return type === "datetime" ? "2026-01-31T10:00:00Z" : "text";
}

/** The messages of a 422 (`create.scope_by: needs …`, `list: must be …`) by operation, and the rest. */
export function faultsByOperation(messages: readonly string[]): {
  readonly byOperation: Readonly<Partial<Record<Operation, readonly string[]>>>;
  readonly others: readonly string[];
} {
  const byOperation: Partial<Record<Operation, string[]>> = {};
  const others: string[] = [];
  for (const message of messages) {
    const operation = operations.find((one) => message.startsWith(`${one}.`) || message.startsWith(`${one}:`));
    if (operation) (byOperation[operation] ??= []).push(message);
    else others.push(message);
  }
  return { byOperation, others };
}
