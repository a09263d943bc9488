/** `<studio-editor>` */
import type { EditorProperties, StudioLanguage } from "../author.ts";
import Editor from "./Editor.svelte";
import { reading, StudioElement } from "./element.ts";

const languages: ReadonlySet<string> = new Set<StudioLanguage>([
  "text",
  "markdown",
  "liquid",
  "json",
  "html",
  "css",
  "javascript",
  "jsx",
  "typescript",
  "tsx",
  "svelte",
  "vue",
]);

export class EditorElement extends StudioElement implements EditorProperties {
  static readonly formAssociated = true;
  static readonly observedAttributes = ["label", "value", "language", "rows", "readonly"];

  label = $state("");
  language = $state<StudioLanguage>("text");
  rows = $state(8);
  readonly = $state(false);
  faults = $state.raw<EditorProperties["faults"]>([]);
  #value = $state("");
  #first = "";
  readonly #internals = this.attachInternals();

  protected readonly component = Editor;
  protected readonly props = reading(
    {
      label: () => this.label,
      value: () => this.#value,
      language: () => this.language,
      rows: () => this.rows,
      readonly: () => this.readonly,
      faults: () => this.faults,
    },
    {
      onchange: (value: string) => {
        this.#take(value);
        this.tell("studio-change");
      },
    },
  );

  /** A form reads the attribute. */
  get name(): string {
    return this.getAttribute("name") ?? "";
  }

  set name(name: string) {
    this.setAttribute("name", name);
  }

  get value(): string {
    return this.#value;
  }

  set value(value: string) {
    this.#first = value;
    this.#take(value);
  }

  attributeChangedCallback(name: string, _before: string | null, value: string | null): void {
    if (name === "readonly") this.readonly = value !== null;
    else if (name === "rows") this.rows = Math.min(60, Math.max(1, Number.parseInt(value ?? "", 10) || 8));
    else if (name === "language") this.language = languageOf(value);
    else if (name === "value") this.value = value ?? "";
    else if (name === "label") this.label = value ?? "";
  }

  formResetCallback(): void {
    this.value = this.#first;
  }

  #take(value: string): void {
    this.#value = value;
    this.#internals.setFormValue(value);
  }
}

function languageOf(name: string | null): StudioLanguage {
  const isLanguage = (one: string | null): one is StudioLanguage => one !== null && languages.has(one);
  return isLanguage(name) ? name : "text";
}
