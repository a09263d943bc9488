/** Testing a flow: what its steps need from outside, what of it can be read for real, and which step a result is of. Pure. */
import { isMap } from "studio/exact";
import { idOf, isStep, rowsOf, stepAt, type Program } from "../program/tree.ts";

export interface StepResult {
  readonly id: string;
  readonly type: string;
  readonly status: string;
  /** What it was given, if known. */
  readonly input: unknown;
  readonly output: unknown;
  readonly error: string;
  readonly warnings: readonly string[];
}

export interface Result {
  readonly status: string;
  readonly data: unknown;
  readonly error: string;
  readonly steps: readonly StepResult[];
  /** Steps whose effect was left out, by their paths. */
  readonly leftOut: readonly string[];
}

/** A request that a step would make, which can be made for the test. */
export type Need =
  | { readonly kind: "record"; readonly id: string; readonly path: string }
  | {
      readonly kind: "call";
      readonly id: string;
      readonly connector: string;
      readonly method: string;
      readonly params: Readonly<Record<string, unknown>>;
    }
  /** A request to an address of its own, or a step of a plugin: a test has no answer to it. `step` says everything itself. */
  | { readonly kind: "own"; readonly id: string; readonly step: Readonly<Record<string, unknown>> };

/** What came of a step that was run for real. */
export interface Tried {
  readonly ok: boolean;
  readonly status: number | null;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly data: unknown;
  readonly error: string;
}

/** What a result shows that a step has asked for and has not got: `answered` are the ids of steps that have an answer. */
export function needsOf(
  { steps, error }: Pick<Result, "steps" | "error">,
  answered: (id: string, name: string) => boolean,
): Need[] {
  return steps.flatMap((step): Need[] => {
    const given = isMap(step.input) ? step.input : {};
    const text = (key: string) => (typeof given[key] === "string" ? given[key] : "");
    const [db, op] = [text("db"), text("op")];
    if (step.type === "db" && db !== "" && (op === "get" || op === "search") && !answered(step.id, `${db}.${op}`))
      return [{ kind: "record", id: step.id, path: op === "get" ? recordPath(db, text("id")) : searchPath(db, given) }];
    const isMissed = step.status === "error" && missedIn(step.error || error) === step.type;
    if (isMissed && (step.type === "http" || step.type.includes(".")) && !answered(step.id, step.type))
      return [
        { kind: "own", id: step.id, step: { type: step.type, ...(step.type === "http" ? given : { params: given }) } },
      ];
    const [connector, method] = [text("connector"), text("method")];
    const misses = missedIn(step.error || error) === `${connector}.${method}`;
    if (step.type !== "connector" || step.status !== "error" || !misses || answered(step.id, `${connector}.${method}`))
      return [];
    return [{ kind: "call", id: step.id, connector, method, params: isMap(given["params"]) ? given["params"] : {} }];
  });
}

function recordPath(db: string, id: string): string {
  return `/core/dbs/${encodeURIComponent(db)}/records/${encodeURIComponent(id)}.json`;
}

/** The search of a step as a request for records. */
function searchPath(db: string, given: Readonly<Record<string, unknown>>): string {
  const params = isMap(given["params"]) ? given["params"] : {};
  const query = new URLSearchParams();
  const text = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));
  if (typeof given["table_name"] === "string") query.set("table_name", given["table_name"]);
  for (const [name, value] of Object.entries(isMap(params["filter"]) ? params["filter"] : {}))
    if (!isMap(value)) query.set(`filter[${name}]`, text(value));
    else for (const [operator, one] of Object.entries(value)) query.set(`filter[${name}][${operator}]`, text(one));
  for (const name of ["q", "sort", "offset"]) if (params[name] !== undefined) query.set(name, text(params[name]));
  query.set("limit", String(Math.min(100, Number(params["limit"] ?? 100) || 100)));
  return `/core/dbs/${encodeURIComponent(db)}/records.json?${query}`;
}

/** Records of a list as a search gives them to a flow. */
export function flattened(rows: readonly Readonly<Record<string, unknown>>[]): unknown[] {
  return rows.map(({ data, ...row }) => ({ ...(isMap(data) ? data : {}), ...row }));
}

/** The missing answer in a test's error: `no answer was given for "weather.current"`. */
export function missedIn(error: unknown): string | undefined {
  const said = typeof error === "string" ? error : "";
  const [, name] = /no answer was given for "([^"]+)"/.exec(said) ?? [];
  return name;
}

/** The path of the step that a result is of: `0.do.1#3` is of `0.do.1`; undefined for one of a called flow. */
export function pathOfResult(program: Program, id: string): string | undefined {
  const [own = ""] = id.split("#", 1);
  const rows = rowsOf(program).filter((row) => row.kind === "step");
  return (rows.find((row) => idOf(row.step) === own) ?? rows.find((row) => row.path === own))?.path;
}

/** What the last test has shown, by the names that steps use. */
export function knownIn(
  program: Program,
  input: unknown,
  result: Result | undefined,
): Readonly<Record<string, unknown>> {
  const given = isMap(input) ? input : {};
  const known: Record<string, unknown> = { ...given, input: given };
  for (const { id, status, output } of result?.steps ?? []) {
    const path = pathOfResult(program, id);
    const step = path === undefined ? undefined : stepAt(program, path);
    if (!isStep(step) || status !== "finished") continue;
    const name = typeof step["as"] === "string" && step["as"] !== "" ? step["as"] : idOf(step);
    if (step["type"] === "mutation" && isMap(output)) Object.assign(known, output);
    else if (step["type"] === "each") {
      const element = typeof step["as"] === "string" && step["as"] !== "" ? step["as"] : "item";
      const [list] = Array.isArray(output) ? output : [];
      if (list !== undefined) known[element] = list;
    } else if (name !== undefined) known[name] = output;
  }
  return known;
}

/** The step with which the test ended; of steps in a loop, the last one. */
export function failedAt(
  program: Program,
  { status, steps }: Result,
): { readonly path: string; readonly error: string } | undefined {
  if (status !== "error") return undefined;
  const failed = steps.filter((step) => step.status === "error").toReversed();
  const deepest = failed.toSorted((a, b) => b.id.length - a.id.length)[0];
  const path = deepest && pathOfResult(program, deepest.id);
  return path === undefined ? undefined : { path, error: deepest?.error ?? "" };
}

const shownChars = 90;

/** A value in a few words: the first texts and numbers in it, `title` first. */
export function brief(value: unknown, title = ""): string {
  if (value === null || value === undefined) return "";
  if (Array.isArray(value))
    return value.length === 0 ? "[]" : `${value.length} × ${brief(value[0])}`.slice(0, shownChars);
  if (!isMap(value)) return (typeof value === "string" ? value : JSON.stringify(value)).slice(0, shownChars);
  const inner = isMap(value["data"]) ? value["data"] : value;
  const parts = Object.entries(inner).filter(
    ([name, one]) =>
      !["id", "created_at", "updated_at", "db_code", "table_name"].includes(name) &&
      (typeof one === "string" || typeof one === "number"),
  );
  return parts
    .toSorted(([a], [b]) => Number(b === title) - Number(a === title))
    .slice(0, 3)
    .map(([, one]) => String(one))
    .join(", ")
    .slice(0, shownChars);
}
