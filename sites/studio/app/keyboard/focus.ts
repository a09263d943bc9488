/** Attachments and helpers for what the keyboard does beyond the browser's own: arrows, Esc and where the focus goes. */

/** Arrows, Home and End move among the links of a bar or a menu; each stays a stop of Tab too. */
export function arrows(element: HTMLElement): () => void {
  const press = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const links = [...element.querySelectorAll<HTMLElement>("a[href]")].filter((link) => link.checkVisibility());
    const at = links.findIndex((link) => link === event.target);
    const to = at < 0 ? undefined : links[indexAfter(event.key, at, links.length) ?? -1];
    if (!to) return;
    event.preventDefault();
    to.focus();
  };
  element.addEventListener("keydown", press);
  // Of tabs in one line that scrolls, and of a long menu.
  element.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  return () => element.removeEventListener("keydown", press);
}

/** Past an end it goes on at the other one. Undefined for a key that does not move. */
export function indexAfter(key: string, at: number, count: number): number | undefined {
  if (key === "ArrowRight" || key === "ArrowDown") return (at + 1) % count;
  if (key === "ArrowLeft" || key === "ArrowUp") return (at - 1 + count) % count;
  if (key === "Home") return 0;
  return key === "End" ? count - 1 : undefined;
}

/** A `<details>` whose panel lies over the page, inside of the window: Esc closes it, and so does a focus that leaves it, which it could hide. */
export function overlay(element: HTMLDetailsElement): () => void {
  const press = (event: KeyboardEvent) => {
    if (event.key !== "Escape" || !element.open || event.defaultPrevented) return;
    event.preventDefault();
    element.open = false;
    element.querySelector("summary")?.focus();
  };
  const leave = ({ relatedTarget }: FocusEvent) => {
    if (relatedTarget instanceof Node && !element.contains(relatedTarget)) element.open = false;
  };
  const fit = () => {
    const panel = element.querySelector<HTMLElement>(".panel");
    panel?.style.setProperty("translate", "none");
    const { left = 0, right = 0 } = panel?.getBoundingClientRect() ?? {};
    panel?.style.setProperty("translate", `${Math.max(8 - left, Math.min(0, innerWidth - 8 - right))}px`);
  };
  element.addEventListener("keydown", press);
  element.addEventListener("focusout", leave);
  element.addEventListener("toggle", fit);
  return () => {
    element.removeEventListener("keydown", press);
    element.removeEventListener("focusout", leave);
    element.removeEventListener("toggle", fit);
  };
}

/** `aria-disabled` is `disabled` for all buttons of the Studio, but does not take the focus away from one that is pressed. */
export function begin(): void {
  const refuse = (event: Event) => {
    if (!(event.target instanceof Element) || !event.target.closest('[aria-disabled="true"]')) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  document.addEventListener("click", refuse, { capture: true });
}

/** The focus of somebody who comes to a page: its heading, so that a screen reader says where one is. */
export function focusPage(): void {
  const main = document.getElementById("main");
  const heading = main?.querySelector("h1");
  heading?.setAttribute("tabindex", "-1");
  (heading ?? main)?.focus({ preventScroll: true });
}
