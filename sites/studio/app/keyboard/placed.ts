/** A popover stands below the button that opens it, or above it where there is no room, and never leaves the window. */
export function placed(pop: HTMLElement): () => void {
  const place = (event: Event) => {
    if (!("newState" in event) || event.newState !== "open") return;
    const opener = document.querySelector(`[popovertarget="${CSS.escape(pop.id)}"]:is(:hover, :focus, [data-opener])`);
    const from = (opener ?? document.querySelector(`[popovertarget="${CSS.escape(pop.id)}"]`))?.getBoundingClientRect();
    if (!from) return;
    const { offsetWidth: width, offsetHeight: height } = pop;
    const edge = 8;
    const left = Math.max(edge, Math.min(from.left, innerWidth - width - edge));
    const below = from.bottom + 4;
    const top =
      below + height > innerHeight - edge
        ? Math.max(edge, Math.min(from.top - height - 4, innerHeight - height - edge))
        : below;
    pop.style.setProperty("inset", `${top}px auto auto ${left}px`);
  };
  pop.addEventListener("toggle", place);
  return () => pop.removeEventListener("toggle", place);
}
