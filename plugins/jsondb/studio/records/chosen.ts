/** The records that an address says are chosen. */
import { chosenInAddress, get } from "studio";
import { rowOf } from "../cells.ts";
import { recordsPath } from "../paths.ts";
import type { Grid } from "./grid.svelte.ts";

const all = "all";
const mostAtOnce = 50;

/** The parameters of an address for the chosen rows. */
export function chosenOf(grid: Grid): ReadonlySet<string> {
  return grid.all ? new Set([all]) : grid.chosen;
}

/** Chooses what the address says, as far as the list still has it: nobody deletes what they do not see. */
export async function chooseByAddress(grid: Grid, signal: AbortSignal): Promise<void> {
  const ids = chosenInAddress();
  if (ids.includes(all)) {
    grid.all = true;
    return;
  }
  for (let at = 0; at < ids.length; at += mostAtOnce) {
    const query = new URLSearchParams(grid.rows.query);
    query.set("filter[id][in]", ids.slice(at, at + mostAtOnce).join(","));
    query.set("limit", String(mostAtOnce));
    query.set("fields", "id");
    const { json } = await get(`${recordsPath(grid.rows.db)}?${query}`, signal);
    const found = Array.isArray(json) ? json.flatMap((value) => rowOf(value)?.id ?? []) : [];
    if (found.length > 0) grid.choose(found, true);
  }
}
