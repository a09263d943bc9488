import type { GridCell } from "studio";

/**
 * Which rows of a long grid are drawn, and where. A browser draws nothing below about 33 million pixels, so the height of
 * very many rows is scaled: the scroll bar then moves further than it says. Pure.
 */
const mostHeight = 15_000_000;
const overscan = 4;

export interface View {
  readonly rows: number;
  readonly rowHeight: number;
  /** Rows of another height, in their order. */
  readonly heads?: readonly number[];
  readonly headHeight?: number;
  readonly scrollTop: number;
  /** Without the header. */
  readonly viewHeight: number;
}

export interface Drawn {
  /** The height of what is scrolled. */
  readonly height: number;
  readonly first: number;
  /** The one after the last. */
  readonly end: number;
  /** Where the first row's top is. */
  readonly top: number;
}

export function drawn(view: View): Drawn {
  const { rows, scrollTop, viewHeight } = view;
  const whole = startOf(rows, view);
  const height = Math.min(whole, mostHeight);
  const at = Math.max(0, scrollTop) * scaleOf(whole, viewHeight);
  const first = Math.max(0, rowAt(at, view) - overscan);
  const end = Math.min(rows, rowAt(at + viewHeight, view) + 1 + overscan);
  return { height, first, end, top: startOf(first, view) - at + Math.max(0, scrollTop) };
}

/** Where a row begins, if nothing is scaled. */
function startOf(index: number, { rowHeight, heads = [], headHeight = rowHeight }: View): number {
  return index * rowHeight - heads.filter((head) => head < index).length * (rowHeight - headHeight);
}

/** The row at a height; the number of rows below the last. */
function rowAt(at: number, view: View): number {
  const { rows, rowHeight, heads = [], headHeight = rowHeight } = view;
  const passed = heads.filter((head) => startOf(head, view) <= at).length;
  return Math.min(rows, Math.floor((at + passed * (rowHeight - headHeight)) / rowHeight));
}

/** Where a row's top is; the one with the focus may be far from those that are seen. */
export function topOf(index: number, { first, top, height }: Drawn, view: View): number {
  const own = startOf(index + 1, view) - startOf(index, view);
  const wanted = top + startOf(index, view) - startOf(first, view);
  return Math.max(0, Math.min(wanted, Math.max(0, height - own)));
}

/** A row of the document, and which row of the grid it shows. */
export interface Slot {
  readonly slot: number;
  readonly index: number;
}

/**
 * The wanted rows in their order. A row that was shown keeps its slot, and one that comes takes the slot of one that has
 * left: to fill an element again takes a third of the time of making one.
 */
export function slotted(before: readonly Slot[], wanted: readonly number[]): Slot[] {
  const kept = new Map(before.map(({ slot, index }) => [index, slot]));
  const isWanted = new Set(wanted);
  const free = before.filter(({ index }) => !isWanted.has(index)).map(({ slot }) => slot);
  const used = new Set(before.map(({ slot }) => slot));
  const made = () => {
    let slot = 0;
    while (used.has(slot)) slot++;
    used.add(slot);
    return slot;
  };
  return wanted.map((index) => ({ index, slot: kept.get(index) ?? free.shift() ?? made() }));
}

/** Where to scroll so that a row is seen whole; undefined if it is. */
export function scrollFor(row: number, view: View): number | undefined {
  const { rows, scrollTop, viewHeight } = view;
  const scale = scaleOf(startOf(rows, view), viewHeight);
  const at = scrollTop * scale;
  const [top, end] = [startOf(row, view), startOf(row + 1, view)];
  if (top < at) return top / scale;
  return end > at + viewHeight ? Math.max(0, (end - viewHeight) / scale) : undefined;
}

function scaleOf(whole: number, viewHeight: number): number {
  return whole <= mostHeight ? 1 : (whole - viewHeight) / (mostHeight - viewHeight);
}

// What in the document an event of the grid is about.

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

/** Whether a key writes something: also one that only begins a letter, and Alt where it makes another one. Space does not. */
export function isWritten(
  event: Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "altKey" | "getModifierState">,
): boolean {
  const { key, ctrlKey, metaKey, altKey } = event;
  if (key === " " || (/^\w{2,}$/.test(key) && key !== "Dead" && key !== "Process")) return false;
  return event.getModifierState("AltGraph") || (!ctrlKey && !metaKey && (!altKey || key > "~"));
}
