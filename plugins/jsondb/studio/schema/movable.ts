/**
 * The rows of a list are moved: by their grip with a pointer, and with Alt and an arrow from whatever has the focus in a row.
 * The focus goes along.
 */
import { tick } from "svelte";

export function movable(move: (from: number, to: number) => void): (list: HTMLElement) => () => void {
  return (list) => {
    const stop = new AbortController();
    let dragged: Element | undefined;
    const rowOf = (target: EventTarget | null) =>
      target instanceof Element ? [...list.children].find((row) => row.contains(target)) : undefined;
    const placeOf = (row: Element) => [...list.children].indexOf(row);
    const over = (row?: Element) => {
      for (const one of list.children) one.toggleAttribute("data-over", one === row && one !== dragged);
    };
    const on = <K extends keyof HTMLElementEventMap>(name: K, run: (event: HTMLElementEventMap[K]) => void) =>
      list.addEventListener(name, run, { signal: stop.signal });

    // Only by its grip: texts in a row can be chosen.
    on("pointerdown", ({ target }) => {
      const grip = target instanceof Element ? target.closest(".grip") : null;
      rowOf(grip)?.setAttribute("draggable", "true");
    });
    on("dragstart", (event) => {
      dragged = rowOf(event.target);
      event.dataTransfer?.setData("text/plain", "");
    });
    on("dragover", (event) => {
      if (!dragged) return;
      event.preventDefault();
      over(rowOf(event.target));
    });
    on("drop", (event) => {
      const row = rowOf(event.target);
      event.preventDefault();
      if (dragged && row && row !== dragged) move(placeOf(dragged), placeOf(row));
    });
    on("dragend", () => {
      dragged?.removeAttribute("draggable");
      dragged = undefined;
      over();
    });
    on("keydown", (event) => {
      const by = event.key === "ArrowUp" ? -1 : event.key === "ArrowDown" ? 1 : 0;
      const row = event.altKey && by !== 0 ? rowOf(event.target) : undefined;
      const { target } = event;
      if (!row || !(target instanceof HTMLElement)) return;
      event.preventDefault();
      const [from, to] = [placeOf(row), placeOf(row) + by];
      if (to < 0 || to >= list.children.length) return;
      move(from, to);
      void tick().then(() => target.focus());
    });
    return () => stop.abort();
  };
}
