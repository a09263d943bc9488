/** The generic list and form of a resource: not of the first load, and kept once they are there. */
import type List from "../pages/List.svelte";
import type Item from "../pages/Item.svelte";

class Generic {
  List = $state.raw<typeof List>();
  Item = $state.raw<typeof Item>();

  /** Throws if a file cannot be loaded. */
  async load(kind: "List" | "Item"): Promise<void> {
    if (kind === "List") this.List ??= (await import("../pages/List.svelte")).default;
    else this.Item ??= (await import("../pages/Item.svelte")).default;
  }
}

export const generic = new Generic();
