/** Every shortcut of the Studio in one place: it feeds the keys, the palette and the tooltips. */
import { untrack } from "svelte";
import { ariaKeys, isLeftToTyping, keysOf, keysText } from "../keyboard/keys.ts";
import { looks } from "./looks.svelte.ts";
import { text } from "./text.svelte.ts";

export interface Command {
  readonly id: string;
  readonly title: string;
  /** Its group, shown beside it in the palette. */
  readonly group?: string;
  /** `mod+k`: Ctrl, or ⌘ on a Mac. */
  readonly keys?: string;
  readonly run: () => void;
}

const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent);

class Shortcuts {
  commands = $state.raw<readonly Command[]>([]);
  /** The first of two letters. */
  private begun: { readonly key: string; readonly at: number } | undefined;

  begin(): void {
    document.addEventListener("keydown", (event) => {
      const pressed = this.withFirst(this.keysOf(event));
      // What a page adds comes before what the frame has.
      const command = this.commands.findLast(({ keys }) => keys === pressed);
      if (event.defaultPrevented || (isLeftToTyping(pressed) && isTyping(event))) return;
      if (isLetter(pressed) && !looks.letters) return;
      if (!command && this.commands.some(({ keys }) => keys?.startsWith(`${pressed} `)))
        this.begun = { key: pressed, at: Date.now() };
      if (!command) return;
      event.preventDefault(); // the browser's own shortcut would be worse than nothing, behind a dialog too
      this.press(pressed);
    });
  }

  /** `c`, then `t` within two seconds, is `c t`. */
  private withFirst(pressed: string): string {
    const begun = this.begun;
    this.begun = undefined;
    return begun && Date.now() - begun.at < 2000 ? `${begun.key} ${pressed}` : pressed;
  }

  /** Does what these keys do, unless a dialog lies over the page. */
  press(keys: string): void {
    if (!document.querySelector("dialog:modal")) this.commands.findLast((command) => command.keys === keys)?.run();
  }

  keysOf(event: KeyboardEvent): string {
    return keysOf(event, isMac);
  }

  /** Adds commands; what it gives back takes them away again. */
  add(commands: readonly Command[]): () => void {
    // An effect that adds commands must not run again because of it.
    this.commands = [...untrack(() => this.commands), ...commands];
    return () => {
      this.commands = untrack(() => this.commands).filter((command) => !commands.includes(command));
    };
  }

  /** For a form: Ctrl+S presses its button. */
  saves = (form: HTMLFormElement): (() => void) => {
    const run = () => {
      const active = document.activeElement;
      if (active instanceof HTMLInputElement) {
        // As Enter does: fields that read what was typed when it is complete hear of it.
        active.blur();
        active.focus();
      }
      form.querySelector<HTMLElement>("button.primary")?.click();
    };
    return this.add([{ id: "save", title: untrack(() => text.messages.save), keys: "mod+s", run }]);
  };

  /** `mod+k` as it is written on this machine. */
  text(keys: string): string {
    return keysText(keys, isMac, text.language);
  }

  /** What a button that a shortcut presses says of it. */
  on(title: string, keys: string): { readonly title: string; readonly "aria-keyshortcuts": string } {
    return { title: `${title} (${this.text(keys)})`, "aria-keyshortcuts": ariaKeys(keys, isMac) };
  }
}

export const shortcuts = new Shortcuts();

/** A sign without Ctrl, ⌘ or Alt. */
function isLetter(keys: string): boolean {
  return !/^(?:mod|alt|other|shift)\+./.test(keys) && keys.split(" ").every((key) => key.length === 1);
}

function isTyping(event: KeyboardEvent): boolean {
  const [target] = event.composedPath(); // inside a shadow root too
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}
