/** `<studio-grid>` */
import type { GridProperties, GridRow } from "../author.ts";
import { textOf } from "../resources/values.ts";
import Grid from "./Grid.svelte";
import { reading, StudioElement } from "./element.ts";

export class GridElement extends StudioElement implements GridProperties {
  static readonly observedAttributes = ["label", "key", "sort", "selectable", "empty"];

  label = $state("");
  rows = $state.raw<readonly GridRow[]>([]);
  columns = $state.raw<GridProperties["columns"]>([]);
  key = $state("id");
  sort = $state("");
  selectable = $state(false);
  chosen = $state.raw<readonly string[]>([]);
  empty = $state("");

  protected readonly component = Grid;
  protected readonly props = reading(
    {
      label: () => this.label,
      rows: () => this.rows,
      columns: () => this.columns.map((column) => (typeof column === "string" ? { name: column } : column)),
      rowKey: () => this.key,
      sort: () => this.sort,
      selectable: () => this.selectable,
      chosen: () => this.chosen,
      empty: () => this.empty,
    },
    {
      onopen: (row: GridRow) => this.tell("studio-open", { row }),
      onsort: (sort: string) => {
        this.sort = sort;
        this.tell("studio-sort", { sort });
      },
      onchoose: (chosen: readonly string[]) => {
        this.chosen = chosen;
        this.tell("studio-choose", {
          rows: this.rows.filter((row, at) => chosen.includes(textOf(row[this.key] ?? at))),
        });
      },
    },
  );

  attributeChangedCallback(name: string, _before: string | null, value: string | null): void {
    if (name === "selectable") this.selectable = value !== null;
    else if (name === "label" || name === "key" || name === "sort" || name === "empty") this[name] = value ?? "";
  }
}
