/** The chosen rows of a list, in its address: they survive a reload, and a link shows them to a colleague. */
import { router } from "./state/router.svelte.ts";

/** More would make an address too long: those are chosen until the page is left. */
const most = 100;

export function chosenInAddress(): string[] {
  return (router.query.get("chosen") ?? "").split(",").filter(Boolean).slice(0, most);
}

/** `path` is the page's own: one that is being left writes nothing into the next address. */
export function keepChosen(ids: ReadonlySet<string>, path: string): void {
  const chosen = ids.size > most ? "" : [...ids].join(",");
  if (router.path === path && (router.query.get("chosen") ?? "") !== chosen) router.set({ chosen }, { replace: true });
}
