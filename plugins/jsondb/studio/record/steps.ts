/** Where a record stands in the list beside it, and which one comes before and after. */
import type { Row } from "../cells.ts";
import { pageSize } from "../paths.ts";
import type { Rows } from "../records/rows.svelte.ts";

/** From 0; undefined where the loaded pages do not have it. */
export function placeIn(pages: ReadonlyMap<number, readonly Row[]>, id: string): number | undefined {
  for (const [page, rows] of pages) {
    const at = rows.findIndex((row) => row.id === id);
    if (at >= 0) return page * pageSize + at;
  }
  return undefined;
}

/** The next or the previous record, read where nobody has looked at it yet. */
export async function stepFrom(rows: Rows, id: string, by: 1 | -1): Promise<string | undefined> {
  const list = rows.listOf(id);
  const place = placeIn(list.pages, id);
  if (place === undefined || place + by < 0) return undefined;
  const to = place + by;
  const found = list.at(to) ?? (await list.range(to, to + 1)).get(to);
  if (found && !list.at(to)) list.look(to, to + 1);
  return found?.id;
}
