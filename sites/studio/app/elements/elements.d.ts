/** `document.createElement("studio-field")` of pages among the built-in plugins; elsewhere platform.d.ts says it. */
interface HTMLElementTagNameMap extends Pick<
  import("../author.ts").StudioElements,
  keyof import("../author.ts").StudioElements
> {}
