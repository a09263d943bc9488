/** Filters of tools as parameters of lists and searches. */
import { invalid, isObject, unknownNames, type Route } from "platform";
import { isFilterValue } from "./tool.ts";

/** Arguments of `list` itself. */
export const ownParameters: ReadonlySet<string> = new Set(["q", "limit", "offset", "after"]);

/** Adds the `filter` of a list. 422 for what its route does not read: it would find everything. */
export function addParameters(
  query: URLSearchParams,
  { spec }: Route,
  filter: Readonly<Record<string, unknown>>,
): void {
  const declared = spec.query ?? {};
  const names = Object.keys(declared).filter((name) => !name.includes("<") && !ownParameters.has(name));
  // Lists of records take any field.
  const takesFields = Object.keys(declared).some((name) => name.startsWith("filter["));
  for (const [name, value] of Object.entries(filter)) {
    if (ownParameters.has(name)) throw invalid({ filter: [`"${name}" is an argument of its own, beside \`filter\``] });
    const isField = takesFields && !names.includes(name);
    if (isField && /^(?:filter|any)\[/.test(name)) append(query, name, plain(name, value));
    else if (isField) addFilter(query, "filter", { [name]: value });
    else if (names.includes(name) || Object.hasOwn(declared, "*"))
      append(query, name, known(declared[name], name, value));
    else throw invalid({ filter: unknownNames([name], names, (given) => `there is no parameter "${given}"`) });
  }
}

function plain(name: string, value: unknown): unknown {
  if (isFilterValue(value)) return value;
  throw invalid({ filter: [`${name} must be a text, a number, true or false`] });
}

function known(schema: unknown, name: string, given: unknown): unknown {
  const value = plain(name, given);
  const all = isObject(schema) && Array.isArray(schema["enum"]) ? schema["enum"] : [value];
  if (all.includes(value)) return value;
  throw invalid({ filter: [`${name} must be one of ${all.join(", ")}`] });
}

/** Filters in the form of the search's parameters. 422 for one that would be no condition: it would find everything. */
export function queryOf({ filter, any, ...others }: Readonly<Record<string, unknown>>): URLSearchParams {
  const query = new URLSearchParams();
  for (const [name, given] of Object.entries(others)) append(query, name, given);
  if (isObject(filter)) addFilter(query, "filter", filter);
  if (!Array.isArray(any)) return query;
  if (any.length === 0) throw invalid({ any: ["has no group"] });
  for (const [at, group] of any.entries()) {
    if (!isObject(group) || Object.keys(group).length === 0) throw invalid({ [`any[${at}]`]: ["has no condition"] });
    addFilter(query, `any[${at}]`, group);
  }
  return query;
}

function addFilter(query: URLSearchParams, prefix: string, filter: Readonly<Record<string, unknown>>): void {
  for (const [name, given] of Object.entries(filter)) {
    const place = `${prefix}[${name}]`;
    if (given === null || isFilterValue(given)) append(query, place, given ?? "");
    else if (!isObject(given)) throw invalid({ [place]: ["must be a value, or an object of operators"] });
    else if (Object.keys(given).length === 0) throw invalid({ [place]: ["has no operator"] });
    else
      for (const [operator, bound] of Object.entries(given)) {
        if (bound === null && operator !== "ne") throw invalid({ [`${place}[${operator}]`]: ["must not be null"] });
        if (!(Array.isArray(bound) ? bound : [bound]).every((one) => one === null || isFilterValue(one)))
          throw invalid({ [`${place}[${operator}]`]: ["must be a value or a list of values"] });
        append(query, `${place}[${operator}]`, bound ?? "");
      }
  }
}

/** A list stays a list, for its values may hold commas; an empty one is there too. */
function append(query: URLSearchParams, name: string, given: unknown): void {
  if (given === undefined) return;
  if (!Array.isArray(given) || given.length === 0) query.append(name, textOf(given));
  else for (const one of given) query.append(`${name}[]`, textOf(one));
}

function textOf(given: unknown): string {
  if (Array.isArray(given) || given === null) return "";
  return typeof given === "string" ? given : JSON.stringify(given);
}
