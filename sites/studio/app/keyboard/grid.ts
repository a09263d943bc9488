/** Where the keys of a grid lead (ARIA Authoring Practices, "Grid"). Row 0 is the header. */

export interface Cell {
  readonly row: number;
  readonly column: number;
}

/** The next cell, or undefined if the key moves nowhere. */
export function nextCell(
  { row, column }: Cell,
  event: { key: string; ctrlKey: boolean },
  rows: number,
  columns: number,
): Cell | undefined {
  const [lastRow, lastColumn] = [rows - 1, columns - 1];
  switch (event.key) {
    case "ArrowUp":
      return { row: Math.max(0, row - 1), column };
    case "ArrowDown":
      return { row: Math.min(lastRow, row + 1), column };
    case "ArrowLeft":
      return { row, column: Math.max(0, column - 1) };
    case "ArrowRight":
      return { row, column: Math.min(lastColumn, column + 1) };
    case "PageUp":
      return { row: Math.max(0, row - 10), column };
    case "PageDown":
      return { row: Math.min(lastRow, row + 10), column };
    case "Home":
      return { row: event.ctrlKey ? 0 : row, column: 0 };
    case "End":
      return { row: event.ctrlKey ? lastRow : row, column: lastColumn };
    default:
      return undefined;
  }
}
