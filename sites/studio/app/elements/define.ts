/** The elements of the kit, for pages that are not written in Svelte: loaded with the first of these. */
import type { StudioElements } from "../author.ts";
import { DialogElement } from "./dialog.svelte.ts";
import { EditorElement } from "./editor.svelte.ts";
import { FieldElement } from "./field.svelte.ts";
import { GridElement } from "./grid.svelte.ts";

const elements = {
  "studio-field": FieldElement,
  "studio-editor": EditorElement,
  "studio-grid": GridElement,
  "studio-dialog": DialogElement,
} satisfies Record<keyof StudioElements, CustomElementConstructor>;

for (const [name, made] of Object.entries(elements)) customElements.define(name, made);
