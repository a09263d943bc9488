/** Arrows, Home and End lead from one button or link of a panel to the next; fields keep their own keys. */
import { indexAfter } from "studio";

export function steps(element: HTMLElement): () => void {
  const press = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const { target } = event;
    if (!(target instanceof HTMLElement) || !target.matches("button, a[href]")) return;
    if (event.key === "ArrowLeft" || event.key === "ArrowRight") return;
    const all = [...element.querySelectorAll<HTMLElement>("button, a[href]")].filter((one) => one.checkVisibility());
    const to = all[indexAfter(event.key, all.indexOf(target), all.length) ?? -1];
    if (!to) return;
    event.preventDefault();
    to.focus();
  };
  element.addEventListener("keydown", press);
  return () => element.removeEventListener("keydown", press);
}
