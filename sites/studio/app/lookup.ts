/** The choices of a field that names another resource: asked for once a minute, whoever asks. */
import { get } from "./api.ts";
import { isolated } from "./bidi.ts";
import type { FormField } from "./forms.ts";
import { nameOf } from "./session.svelte.ts";
import { isMap, textOf } from "./values.ts";

export interface Choice {
  readonly value: string;
  readonly label: string;
}

const keptMs = 60_000;
const most = 500;
const kept = new Map<string, { readonly at: number; readonly choices: Promise<readonly Choice[]> }>();

export function lookupChoices({ resource, field }: NonNullable<FormField["target"]>): Promise<readonly Choice[]> {
  const key = `${resource.path} ${field}`;
  const before = kept.get(key);
  if (before && before.at > Date.now() - keptMs) return before.choices;
  const limit = resource.list.query.some(({ name }) => name === "limit") ? `?limit=${most}` : "";
  const choices = get(`${resource.path}.json${limit}`).then(({ json }) =>
    (Array.isArray(json) ? json : []).flatMap((row) => choiceOf(row, field)),
  );
  choices.catch(() => kept.delete(key));
  kept.set(key, { at: Date.now(), choices });
  return choices;
}

function choiceOf(row: unknown, field: string): Choice[] {
  const value = isMap(row) ? textOf(row[field]) : "";
  if (value === "") return [];
  const name = nameOf(row);
  return [{ value, label: name === value ? value : `${isolated(name)} (${value})` }];
}
