/** What a page decides about the actions of one thing. */
import type { IconName } from "../icons.ts";
import { lastWord } from "../resources/names.ts";
import type { Operation, Resource } from "../resources/resources.ts";
import { isMap, ownOf, textOf } from "../resources/values.ts";

/** The parameter that an action ends in: `method_name` of `/connect/connectors/{code}/{method_name}`. */
export function parameterOf({ path }: Pick<Operation, "path">): string | undefined {
  return /\}\/\{(\w+)\}(?:\.json)?$/.exec(path)?.[1];
}

/** What it does: `run` of `/account/crons/{id}/run`. */
export function wordOf(action: Pick<Operation, "path">): string {
  return parameterOf(action) === undefined ? lastWord(action.path.replace(/\.json$/, "")) : "call";
}

const pictures: Readonly<Record<string, IconName>> = {
  call: "play",
  cancel: "stop",
  preview: "eye",
  redeliver: "send",
  retry: "retry",
  rotate_secret: "key",
  run: "play",
  test: "test",
  verify: "verify",
};

export function pictureOf(action: Pick<Operation, "path">): IconName | undefined {
  return ownOf(pictures, wordOf(action));
}

/** Whether it can succeed with this thing, as far as the thing says. */
export function canDo({ when = {} }: Pick<Operation, "when">, record: unknown): boolean {
  return Object.entries(when).every(([name, values]) => isMap(record) && values.includes(textOf(ownOf(record, name))));
}

/** Where its choices are: the list below the thing that is named like it, `…/methods`, and their field, `name`. */
export function choicesPath(action: Operation, { children }: Resource): { path: string; field: string } | undefined {
  const [, list = "", field = ""] = /^(\w+)_(\w+)$/.exec(parameterOf(action) ?? "") ?? [];
  const path = children.find((child) => child.endsWith(`/${list}s`));
  return path === undefined || list === "" ? undefined : { path, field };
}

/** The answer is the thing itself, which its page shows already. */
export function isSame(json: unknown, record: unknown): boolean {
  if (!isMap(json) || !isMap(record)) return false;
  // Things of another kind may have the same number.
  const holds = (one: object, other: object) => Object.keys(one).every((name) => Object.hasOwn(other, name));
  return json["id"] === record["id"] && (holds(json, record) || holds(record, json));
}

/** The values of an action's path: what it calls `{code}` may be addressed by its id. */
export function pathValues({ path }: Pick<Operation, "path">, values: readonly string[], record: unknown): string[] {
  const name = [...path.matchAll(/\{(\w+)\}/g)][values.length - 1]?.[1] ?? "";
  const own = isMap(record) && Object.hasOwn(record, name) ? record[name] : undefined;
  return typeof own === "string" && own !== "" ? [...values.slice(0, -1), own] : [...values];
}

/** What only this answer shows of the thing, e.g. a new secret. */
export function onceShown(json: unknown, { read }: Resource): Record<string, unknown> | undefined {
  const lasting = read?.answer?.properties;
  if (!isMap(json) || !lasting) return undefined;
  const isOfThing = Object.keys(lasting).every((name) => name in json);
  const once = Object.entries(json).filter(([name, value]) => !(name in lasting) && typeof value === "string");
  return isOfThing && once.length > 0 ? Object.fromEntries(once) : undefined;
}

/** A JSON body to begin with: a name for each parameter that is known. */
export function bodyFor(parameters: unknown): string {
  const names = Array.isArray(parameters) ? parameters.map(String) : [];
  return JSON.stringify(Object.fromEntries(names.map((name) => [name, ""])), null, 2);
}
