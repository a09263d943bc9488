/** Testing a flow: which answers its steps need from outside, and which step a result is of. Pure. */
import { idOf, isStep, rowsOf, type Program } from "../program/tree.ts";

export interface ExternalCall {
  /** Under which the answer is given: `weather.current`, `orders.search`, the type of a plugin's step. */
  readonly name: string;
  /** The steps that ask for it. */
  readonly paths: readonly string[];
  /** Without an answer the test fails there; the others have one of their own. */
  readonly isNeeded: boolean;
}

/** `asked`: names that a test has missed, e.g. of a called flow. */
export function outsideOf(program: Program, asked: readonly string[] = []): ExternalCall[] {
  const found = new Map<string, { paths: string[]; isNeeded: boolean }>();
  for (const row of rowsOf(program)) {
    if (row.kind !== "step") continue;
    const called = calledBy(row.step);
    if (!called) continue;
    const one = found.get(called.name) ?? { paths: [], isNeeded: called.isNeeded };
    one.paths.push(row.path);
    found.set(called.name, one);
  }
  for (const name of asked) if (!found.has(name)) found.set(name, { paths: [], isNeeded: true });
  return [...found].map(([name, one]) => ({ name, ...one }));
}

function calledBy(step: unknown): { name: string; isNeeded: boolean } | undefined {
  if (!isStep(step)) return undefined;
  const [type, connector, method, db, op] = ["type", "connector", "method", "db", "op"].map((key) => {
    const value = step[key];
    return typeof value === "string" ? value : "";
  });
  if (type === "connector" && connector && method) return { name: `${connector}.${method}`, isNeeded: true };
  if (type === "db" && db && op) return { name: `${db}.${op}`, isNeeded: op === "get" };
  return type?.includes(".") ? { name: type, isNeeded: true } : undefined;
}

/** The missing answer in a test's error: `no answer was given for "weather.current"`. */
export function missedIn(error: unknown): string | undefined {
  const said = typeof error === "string" ? error : "";
  const start = said.indexOf('no answer was given for "');
  if (start === -1) return undefined;
  const name = said.slice(start + 'no answer was given for "'.length).split('"', 1)[0];
  return name === undefined || name === "" ? undefined : name;
}

/** The path of the step that a result is of: `0.do.1#3` is of `0.do.1`; undefined for one of a called flow. */
export function pathOfResult(program: Program, id: string): string | undefined {
  const [own = ""] = id.split("#", 1);
  const rows = rowsOf(program).filter((row) => row.kind === "step");
  return (rows.find((row) => idOf(row.step) === own) ?? rows.find((row) => row.path === own))?.path;
}
