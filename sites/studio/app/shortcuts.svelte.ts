/** Every shortcut of the Studio in one place: it feeds the keys, the palette and the tooltips. */
import { untrack } from "svelte";

export interface Command {
  readonly id: string;
  readonly title: string;
  /** What it belongs to, shown beside it in the palette. */
  readonly group?: string;
  /** `mod+k`: Ctrl, or ⌘ on a Mac. */
  readonly keys?: string;
  readonly run: () => void;
}

class Shortcuts {
  commands = $state.raw<readonly Command[]>([]);

  begin(): void {
    document.addEventListener("keydown", (event) => {
      const pressed = keysOf(event);
      const command = this.commands.find(({ keys }) => keys === pressed);
      if (!command || (isTyping(event) && !pressed.startsWith("mod+"))) return;
      event.preventDefault();
      command.run();
    });
  }

  /** Adds commands; what it gives back takes them away again. */
  add(commands: readonly Command[]): () => void {
    // An effect that adds commands must not run again because of it.
    this.commands = [...untrack(() => this.commands), ...commands];
    return () => {
      this.commands = untrack(() => this.commands).filter((command) => !commands.includes(command));
    };
  }
}

export const shortcuts = new Shortcuts();

const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent);

function keysOf(event: KeyboardEvent): string {
  const mod = isMac ? event.metaKey : event.ctrlKey;
  return `${mod ? "mod+" : ""}${event.shiftKey && event.key.length > 1 ? "shift+" : ""}${event.key.toLowerCase()}`;
}

function isTyping({ target }: KeyboardEvent): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}

/** `mod+k` as it is written on this machine. */
export function keysText(keys: string): string {
  return keys
    .split("+")
    .map((key) => (key === "mod" ? (isMac ? "⌘" : "Ctrl") : key.length === 1 ? key.toUpperCase() : key))
    .join(isMac ? "" : "+");
}
