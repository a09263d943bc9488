/** Which shortcut a key press is, and how a shortcut is written. Pure. */

interface KeyPress {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
  readonly shiftKey: boolean;
}

/** `mod+shift+k`; `mod` is Ctrl, or ⌘ on a Mac. The shift that makes `?` of a key is part of that sign. */
export function keysOf({ key, ctrlKey, metaKey, altKey, shiftKey }: KeyPress, isMac: boolean): string {
  const isLetter = key.length === 1 && key.toLowerCase() !== key.toUpperCase();
  return [
    (isMac ? metaKey : ctrlKey) && "mod",
    // The other one of the two is no shortcut of the Studio, and must not look like one.
    (isMac ? ctrlKey : metaKey) && "other",
    // AltGr is Ctrl and Alt on Windows: what it types is no shortcut either.
    altKey && "alt",
    shiftKey && (isLetter || key.length > 1) && "shift",
    key.toLowerCase(),
  ]
    .filter(Boolean)
    .join("+");
}

/** A bare sign is text while one types, and Ctrl+Z takes back what was typed there. */
export function isLeftToTyping(keys: string): boolean {
  return !keys.startsWith("mod+") || keys === "mod+z";
}

const arrows: Readonly<Record<string, string>> = { arrowup: "↑", arrowdown: "↓", arrowleft: "←", arrowright: "→" };
const onMac = { mod: "⌘", shift: "⇧", alt: "⌥" };
const onOthers = { mod: "Ctrl" };
/** What German keyboards have on their keys; Polish ones have the English words. */
const inGerman = { mod: "Strg", shift: "Umschalt", delete: "Entf", home: "Pos1", end: "Ende", space: "Leertaste" };

/** As the keys are labelled: `Ctrl+K`, `Strg+K`, `⌘K`; `C T` is one after the other. */
export function keysText(keys: string, isMac: boolean, language = "en"): string {
  if (keys.includes(" "))
    return keys
      .split(" ")
      .map((key) => keysText(key, isMac, language))
      .join(" ");
  const names: Readonly<Record<string, string>> = isMac ? onMac : language === "de" ? inGerman : onOthers;
  return keys
    .split(/\+(?=.)/)
    .map((key) => names[key] ?? arrows[key] ?? capital(key))
    .join(isMac ? "" : "+");
}

/** For `aria-keyshortcuts`: `Control+K`, `Alt+ArrowUp`. */
export function ariaKeys(keys: string, isMac: boolean): string {
  const spoken = (key: string) => (key === "mod" ? (isMac ? "Meta" : "Control") : capital(key));
  return keys
    .split(/\+(?=.)/)
    .map((key) => (key.startsWith("arrow") ? `Arrow${capital(key.slice(5))}` : spoken(key)))
    .join("+");
}

function capital(key: string): string {
  return key.charAt(0).toUpperCase() + key.slice(1);
}

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
