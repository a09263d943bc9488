/** What in the document an event of the grid is about. */
import type { GridCell } from "studio";

export function cellAt(target: EventTarget | null): GridCell | undefined {
  const cell = target instanceof Element ? target.closest("[role=gridcell], [role=columnheader]") : null;
  const line = cell?.parentElement;
  if (!cell || !line) return undefined;
  return {
    row: Number(line.getAttribute("aria-rowindex")) - 1,
    column: Number(cell.getAttribute("aria-colindex")) - 1,
  };
}

/** Whether the keys are those of a text, and not of the grid. */
export function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLTextAreaElement || (target instanceof HTMLInputElement && target.type !== "checkbox");
}
