/** Finds records by what is typed into the palette: by the lists that can search, each for its first few. */
import { addressOf } from "./address.ts";
import { get } from "./api.ts";
import { idOf } from "./list.ts";
import { router } from "./router.svelte.ts";
import { nameOf, session } from "./session.svelte.ts";
import type { Command } from "./shortcuts.svelte.ts";
import { text } from "./text.svelte.ts";
import type { Resource } from "./resources.ts";

const mostOfEach = 5;

export async function findRecords(words: string, signal: AbortSignal): Promise<readonly Command[]> {
  const searchable = session.menu
    .flatMap(({ items }) => items.flatMap(({ resource }) => resource ?? []))
    .filter(({ list }) => list.query.some(({ name }) => name === "q"));
  const found = await Promise.all(searchable.map((resource) => findIn(resource, words, signal)));
  return found.flat();
}

async function findIn(resource: Resource, words: string, signal: AbortSignal): Promise<Command[]> {
  const { json } = await get(`${resource.path}.json?limit=${mostOfEach}&q=${encodeURIComponent(words)}`, signal);
  return (Array.isArray(json) ? json : []).flatMap((row) => {
    const id = idOf(row, resource);
    if (id === undefined) return [];
    const run = () => router.go(addressOf(resource, [id]));
    return [{ id: `${resource.path} ${id}`, title: nameOf(row), group: text.singular(resource.path), run }];
  });
}
