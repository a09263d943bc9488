/** The cells of a table with `role="grid"`: one stop of Tab, among which the keys of a grid move. */
import { nextCell, type Cell } from "../keyboard/keys.ts";
import { focusPage } from "../keyboard/focus.ts";

export class Cells {
  /** Where the focus was last. Row 0 is the header. */
  private last = $state.raw<Cell>({ row: 1, column: 0 });
  private readonly name: string;
  private readonly size: () => { readonly rows: number; readonly columns: number };
  /** Rows may have gone since. */
  readonly active: Cell = $derived.by(() => {
    const { rows, columns } = this.size();
    return { row: Math.min(this.last.row, rows), column: Math.min(this.last.column, columns - 1) };
  });

  /** `name`: what the ids of the cells begin with. `rows`: without the header. */
  constructor(name: string, size: Cells["size"], column = 0) {
    this.name = name;
    this.size = size;
    this.last = { row: 1, column };
  }

  /** The attributes of a cell. */
  at(row: number, column: number) {
    return {
      id: `${this.name}-${row}-${column}`,
      tabindex: this.active.row === row && this.active.column === column ? 0 : -1,
      onfocusin: () => (this.last = { row, column }),
    };
  }

  /** Whether the key moves: then the next cell has the focus. */
  press(event: KeyboardEvent): boolean {
    const { rows, columns } = this.size();
    const next = nextCell(this.active, event, rows + 1, columns);
    if (!next) return false;
    event.preventDefault();
    this.focus(next);
    return true;
  }

  /** Whether the focus is on a cell itself, and not on something inside. */
  has({ target }: Event): boolean {
    return target instanceof HTMLElement && target.id.startsWith(`${this.name}-`);
  }

  focus(cell: Cell = this.active): void {
    this.last = cell;
    const found = document.getElementById(`${this.name}-${this.active.row}-${this.active.column}`);
    if (found) found.focus();
    else focusPage(); // the last row is gone
  }
}
