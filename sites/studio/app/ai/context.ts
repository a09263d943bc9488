/** Context variables of a prompt, from the page that is open. Pure. */
import { decoded } from "../address.ts";

export interface PageContext {
  /** The page's address, below `/studio`. */
  readonly path: string;
  readonly search: string;
  /** The parts of the address as the page declares them: `core/prompts/:id`, `/core/dbs/{db_id}/records/{id}`. */
  readonly pattern: string;
  readonly title: string;
  /** What the page shows, if it has been read. */
  readonly record: unknown;
}

const mostChars = 20_000;

/** `prompt_id` on a prompt's page, `db_id` and `record_id` on an open record's; a list has none of its own. */
export function contextOf({ path, search, pattern, title, record }: PageContext): Record<string, string> {
  const context: Record<string, string> = {};
  const values = path.split("/").filter(Boolean);
  const parts = pattern.split("/").filter(Boolean);
  for (const [at, value] of values.entries()) {
    const name = /^[:{](\w+)\}?$/.exec(parts[at] ?? "")?.[1];
    const above = values[at - 1] ?? "";
    // The page of an item may be declared as its list: `/core/prompts`, and then one value more.
    const isItem = parts[at] === undefined && at === parts.length;
    if ((name === undefined && !isItem) || value === "new") continue;
    const known =
      name === undefined || name === "id"
        ? `${singular(above)}_id`
        : name === "code"
          ? `${singular(above)}_code`
          : name;
    context[known] = decoded(value);
  }
  const query = new URLSearchParams(search);
  const open = query.get("open");
  if (open !== null && open !== "") context["record_id"] = open;
  if (query.get("table")) context["table_name"] = query.get("table") ?? "";
  const text = record === undefined ? "" : JSON.stringify(record);
  return {
    ...context,
    page: path,
    page_title: title,
    ...(search.length > 1 && { page_query: search.slice(1) }),
    ...(text !== "" && { record: text.length > mostChars ? `${text.slice(0, mostChars)}…` : text }),
  };
}

/** `entries` -> `entry`, `processes` -> `process`, `dbs` -> `db` */
export function singular(word: string): string {
  const name = decoded(word).replaceAll("-", "_");
  if (name.endsWith("ies")) return `${name.slice(0, -3)}y`;
  if (/(?:ss|x|ch|sh)es$/.test(name)) return name.slice(0, -2);
  return name.endsWith("s") ? name.slice(0, -1) : name;
}
