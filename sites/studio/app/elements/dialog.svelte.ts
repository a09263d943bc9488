/** `<studio-dialog>`: in a shadow root, so that its children stay where the page has put them. */
import type { DialogProperties } from "../author.ts";
import Dialog from "./Dialog.svelte";
import { reading, StudioElement } from "./element.ts";

/** What style.css says of dialogs; a shadow root has styles of its own. */
const sheet = new CSSStyleSheet();
sheet.replaceSync(`
  dialog { box-sizing: border-box; width: min(34rem, calc(100vw - 2rem)); max-height: calc(100dvh - 2rem);
    padding: 0; overflow: auto; scroll-padding: 1rem 0 5.5rem; color: var(--ink); background: var(--card); border: 1px solid var(--line);
    border-radius: 12px; box-shadow: var(--shadow); }
  dialog.wide { width: min(56rem, calc(100vw - 2rem)); }
  dialog::backdrop { background: rgb(10 14 22 / 0.5); }
  .stack { display: grid; gap: 1rem; padding: 1.25rem; }
  h2 { margin: 0; font-size: 1.1rem; font-weight: 650; line-height: 1.25; }
`);

export class DialogElement extends StudioElement implements DialogProperties {
  static readonly observedAttributes = ["label", "open", "wide"];

  label = $state("");
  open = $state(false);
  wide = $state(false);
  readonly #root = this.attachShadow({ mode: "open" });

  protected readonly component = Dialog;
  protected readonly props = reading(
    { label: () => this.label, open: () => this.open, wide: () => this.wide },
    {
      onclose: () => {
        this.open = false;
        this.tell("studio-close");
      },
    },
  );

  constructor() {
    super();
    this.#root.adoptedStyleSheets = [sheet];
  }

  protected override get place(): ShadowRoot {
    return this.#root;
  }

  attributeChangedCallback(name: string, _before: string | null, value: string | null): void {
    if (name === "open" || name === "wide") this[name] = value !== null;
    else if (name === "label") this.label = value ?? "";
  }
}
