/** Finds what has a name, by what is typed into the palette. */
import { addressOf } from "../address.ts";
import { get } from "../server/request.ts";
import { router } from "../state/router.svelte.ts";
import { session } from "../state/session.svelte.ts";
import type { Command } from "../state/shortcuts.svelte.ts";
import { text } from "../state/text.svelte.ts";

interface Found {
  readonly path: string;
  readonly id: string | number;
  readonly name: string;
}

export async function findRecords(words: string, signal: AbortSignal): Promise<readonly Command[]> {
  const { json } = await get(`/core/search.json?q=${encodeURIComponent(words.slice(0, 200))}`, signal);
  return (json as readonly Found[]).flatMap(({ path, id, name }) => {
    const resource = session.resources.find((one) => one.path === path);
    if (!resource) return [];
    const run = () => router.go(addressOf(resource, [String(id)]));
    return [{ id: `${path} ${id}`, title: name, group: text.singular(path), run }];
  });
}
