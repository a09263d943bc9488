/** `<studio-field>` */
import type { FieldProperties, StudioFieldKind } from "../author.ts";
import { inputsOf, typed, type FormField, type Input } from "../resources/forms.ts";
import Field from "../kit/forms/Field.svelte";
import { session } from "../state/session.svelte.ts";
import { text } from "../state/text.svelte.ts";
import { reading, StudioElement } from "./element.ts";

const kinds: ReadonlySet<string> = new Set<StudioFieldKind>([
  "line",
  "text",
  "secret",
  "number",
  "flag",
  "choice",
  "choices",
  "list",
  "time",
  "date",
  "json",
  "lookup",
  "lookups",
]);

export class FieldElement extends StudioElement implements FieldProperties {
  static readonly formAssociated = true;
  static readonly observedAttributes = ["name", "label", "kind", "value", "resource", "help", "required", "disabled"];

  label = $state("");
  kind = $state<StudioFieldKind>("line");
  choices = $state.raw<FieldProperties["choices"]>([]);
  resource = $state("");
  help = $state("");
  required = $state(false);
  disabled = $state(false);
  messages = $state.raw<readonly string[]>([]);
  #input = $state.raw<Input>();
  #first: unknown;
  readonly #internals = this.attachInternals();

  readonly #field = $derived<FormField>({
    name: "value", // what it is called must not decide how it looks
    label: this.label,
    kind: this.kind,
    required: this.required,
    nullable: this.kind === "number",
    integer: false,
    choices: this.choices.map((choice) => (typeof choice === "string" ? choice : choice.value)),
    labels: Object.fromEntries(
      this.choices.flatMap((choice) => (typeof choice === "string" ? [] : [[choice.value, choice.label]])),
    ),
    help: this.help,
    ...this.#target(),
  });
  readonly #shown = $derived<Input>(this.#input ?? inputsOf([this.#field], {})["value"] ?? "");
  readonly #typed = $derived(typed(this.#field, this.#shown));
  readonly mistake = $derived("mistake" in this.#typed ? this.#words(this.#typed.mistake) : "");

  protected readonly component = Field;
  protected readonly props = reading(
    {
      field: () => this.#field,
      value: () => this.#shown,
      messages: () => (this.mistake === "" ? this.messages : [this.mistake, ...this.messages]),
      disabled: () => this.disabled,
    },
    {
      onchange: (input: Input) => {
        this.#take(input);
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

  get value(): unknown {
    return "value" in this.#typed ? this.#typed.value : undefined;
  }

  set value(value: unknown) {
    this.#first = value;
    this.#take(inputsOf([this.#field], { value })["value"] ?? "");
  }

  attributeChangedCallback(name: string, _before: string | null, value: string | null): void {
    if (name === "required" || name === "disabled") this[name] = value !== null;
    else if (name === "kind") this.kind = kindOf(value);
    else if (name === "value") this.value = value;
    else if (name === "name" && this.#input !== undefined) this.#take(this.#input);
    else if (name === "label" || name === "resource" || name === "help") this[name] = value ?? "";
  }

  formResetCallback(): void {
    this.messages = [];
    this.value = this.#first;
    this.showAnew();
  }

  /** A fieldset around it was disabled. */
  formDisabledCallback(disabled: boolean): void {
    this.disabled = disabled;
  }

  #take(input: Input): void {
    this.#input = input;
    this.#internals.setFormValue(sentBy(this.name, input));
  }

  #target(): Pick<FormField, "target"> {
    const resource = session.resources.find(({ path }) => path === this.resource);
    return resource && this.kind.startsWith("lookup") ? { target: { resource, field: "id" } } : {};
  }

  #words(mistake: "number" | "json"): string {
    return mistake === "number" ? text.messages.notNumber : text.messages.notJson;
  }
}

function kindOf(name: string | null): StudioFieldKind {
  const isKind = (one: string | null): one is StudioFieldKind => one !== null && kinds.has(one);
  return isKind(name) ? name : "line";
}

/** As a form sends it: each value of a list on its own, and nothing for a flag that is not set. */
function sentBy(name: string, input: Input): string | FormData | null {
  if (typeof input === "string") return input;
  if (typeof input === "boolean") return input ? "true" : null;
  const data = new FormData();
  for (const value of input) data.append(name, value);
  return data;
}
