/**
 * The choices of a field that names another resource: asked for once a minute, whoever asks. Of many, the first are
 * answered; further ones are found by what is typed.
 */
import { get } from "../server/request.ts";
import { isolated } from "../bidi.ts";
import { canNarrow, holds, type FormField, type Inputs } from "./forms.ts";
import type { Choices } from "./openapi.ts";
import { nameOf } from "../title.ts";
import { isMap, textOf } from "./values.ts";
import { addressOf, base } from "../address.ts";
import { router } from "../state/router.svelte.ts";
import { session } from "../state/session.svelte.ts";
import type { Command } from "../state/shortcuts.svelte.ts";
import { text } from "../state/text.svelte.ts";

export interface Choice {
  readonly value: string;
  readonly label: string;
}

const keptMs = 60_000;
export const mostChoices = 500;
const kept = new Map<string, { readonly at: number; readonly rows: Promise<readonly unknown[]> }>();

type Target = NonNullable<FormField["target"]>;

export function lookupChoices({ resource, field }: Target, narrowed = ""): Promise<readonly Choice[]> {
  const limit = resource.list.query.some(({ name }) => name === "limit") ? `limit=${mostChoices}&` : "";
  return rowsAt(`${resource.path}.json?${limit}${narrowed}`).then((rows) =>
    once(rows.flatMap((row) => choiceOf(row, field))),
  );
}

/** The choices of a field in a form. */
export async function choicesOf(field: FormField, inputs: Inputs): Promise<readonly Choice[]> {
  const { target, sources, name } = field;
  if (target) return lookupChoices(target, narrowedBy(field, inputs));
  const lists = (sources ?? []).filter((source) => holds(source, inputs)).map((source) => sourced(source, inputs));
  const all = (await Promise.all(lists)).flat();
  return once(all.filter(({ value }) => value !== "" || name === ""));
}

/** Fields that the choices depend on; a change reloads them. */
export function dependsOn(field: FormField, inputs: Inputs): string {
  const names = (field.sources ?? []).flatMap(({ where = [], when = {} }) => [...where, ...Object.keys(when)]);
  return JSON.stringify([narrowedBy(field, inputs), ...names.map((name) => inputs[name])]);
}

function narrowedBy(field: FormField, inputs: Inputs): string {
  const shared = Object.entries(inputs).filter(
    ([name, value]) => value !== "" && name.endsWith("_code") && name !== field.name && canNarrow(field, name),
  );
  return new URLSearchParams(shared.map(([name, value]) => [name, textOf(value)])).toString();
}

async function sourced({ values = [], path, value = "", where = [] }: Choices, inputs: Inputs): Promise<Choice[]> {
  if (path === undefined) return values.map((one) => ({ value: one, label: one }));
  const rows = await rowsAt(`${path}?limit=${mostChoices}`);
  const fitting = rows.filter((row) => isMap(row) && where.every((name) => textOf(row[name]) === inputs[name]));
  return fitting.flatMap((row) => {
    const found = isMap(row) ? row[value] : undefined;
    return Array.isArray(found)
      ? found.map((one) => ({ value: String(one), label: String(one) }))
      : choiceOf(row, value);
  });
}

function rowsAt(address: string): Promise<readonly unknown[]> {
  const before = kept.get(address);
  if (before && before.at > Date.now() - keptMs) return before.rows;
  const rows = get(address).then(({ json }): readonly unknown[] => (Array.isArray(json) ? json : []));
  rows.catch(() => kept.delete(address));
  kept.set(address, { at: Date.now(), rows });
  return rows;
}

/** Two sites may have a layout of one code. Names that repeat are told apart by their numbers. */
function once(choices: readonly Choice[]): Choice[] {
  const all = [...new Map(choices.map((choice) => [choice.value, choice])).values()];
  const names = Map.groupBy(all, ({ label }) => label);
  return all.map(({ value, label }) => ({
    value,
    label: names.get(label)?.length === 1 ? label : `${label} (${value})`,
  }));
}

/** Those that are known already keep their place. */
export function joined(known: readonly Choice[], found: readonly Choice[]): readonly Choice[] {
  const values = new Set(known.map(({ value }) => value));
  return [...known, ...found.filter(({ value }) => !values.has(value))];
}

function choiceOf(row: unknown, field: string): Choice[] {
  const value = isMap(row) ? textOf(row[field]) : "";
  if (value === "") return [];
  return [{ value, label: isolated(nameOf(row)) || value }];
}

// Finds what has a name, by what is typed into the palette.

interface SearchResult {
  readonly path: string;
  readonly id: string | number;
  readonly name: string;
}

export async function findRecords(words: string, signal: AbortSignal): Promise<readonly Command[]> {
  const { json } = await get(`/core/search.json?q=${encodeURIComponent(words.slice(0, 200))}`, signal);
  return (json as readonly SearchResult[]).flatMap(({ path, id, name }) => {
    const [, db] = /^\/core\/dbs\/([\w-]{1,100})\/records$/.exec(path) ?? [];
    if (db !== undefined) {
      const run = () => router.go(`${base}/core/dbs/${db}/records?open=${id}`);
      return [{ id: `${path} ${id}`, title: name, group: db, run }];
    }
    const resource = session.resources.find((one) => one.path === path);
    if (!resource) return [];
    const run = () => router.go(addressOf(resource, [String(id)]));
    return [{ id: `${path} ${id}`, title: name, group: text.singular(path), run }];
  });
}
