/** Popovers stand below what opens them, or above it where there is more room, and never leave the window. */
const edge = 8;

/** Puts an open popover at a rectangle of the window; `most` is the height that it may have. */
export function stand(pop: HTMLElement, from: DOMRect, most = Infinity): void {
  const [below, above] = [innerHeight - from.bottom - 12, from.top - 12];
  const wanted = Math.min(pop.scrollHeight, most);
  const isBelow = below >= Math.min(wanted, 240) || below >= above;
  const height = Math.min(most, Math.max(160, isBelow ? below : above));
  const left = Math.max(edge, Math.min(from.left, innerWidth - pop.offsetWidth - edge));
  const top = isBelow ? from.bottom + 4 : Math.max(edge, from.top - 4 - Math.min(wanted, height));
  pop.style.setProperty("max-height", `${height}px`);
  pop.style.setProperty("inset", `${top}px auto auto ${left}px`);
}

/** At the button that opens it. */
export function placed(pop: HTMLElement): () => void {
  const place = (event: Event) => {
    if (!("newState" in event) || event.newState !== "open") return;
    const opener = document.querySelector(`[popovertarget="${CSS.escape(pop.id)}"]:is(:hover, :focus, [data-opener])`);
    const from = opener ?? document.querySelector(`[popovertarget="${CSS.escape(pop.id)}"]`);
    if (from) stand(pop, from.getBoundingClientRect());
  };
  pop.addEventListener("toggle", place);
  return () => pop.removeEventListener("toggle", place);
}

/** A list of choices: open at its parent as long as it is there, whatever scrolls. */
export function floating(pop: HTMLElement): () => void {
  const place = () => {
    const from = pop.parentElement?.getBoundingClientRect();
    if (!from) return;
    pop.style.setProperty("min-width", `${from.width}px`);
    stand(pop, from, 256);
  };
  pop.popover = "manual";
  pop.showPopover();
  place();
  const observer = new ResizeObserver(place);
  observer.observe(pop);
  document.addEventListener("scroll", place, { capture: true, passive: true });
  return () => {
    observer.disconnect();
    document.removeEventListener("scroll", place, { capture: true });
  };
}
