/** What a person has changed of views and not saved, kept in this browser. Loaded after the records: what seals it is large. */
import { KeptDraft } from "studio";

const kept = new Map<string, KeptDraft>();

function at(id: string): KeptDraft {
  const found = kept.get(id) ?? new KeptDraft(`view ${id}`);
  kept.set(id, found);
  return found;
}

/** The query of the address. */
export function readDraft(id: string): string | undefined {
  const { query } = at(id).take();
  return typeof query === "string" ? query : undefined;
}

export function keepDraft(id: string, query: string | undefined): void {
  if (query === undefined) at(id).forget();
  else at(id).keep({ query });
}
