/** What a hostile text must not do to a page that shows it. */
import type { Page } from "playwright-core";

/** Scripts, links, and characters that turn around what follows, close what holds them, or cannot be seen. */
export const hostileName =
  "</style><img src=x onerror=hit=1><script>hit=1</script>\u2069\u202c\u202egnp.exe\u200b\u2066";
export const hostileLinks = ["javascript:hit=1//", "data:text/html,<script>hit=1</script>"] as const;

/** Every sign of harm: a script that ran, a link that is no address of ours, words beside a name that were turned around. */
export function harmOf(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const harm: string[] = [];
    if ("hit" in globalThis) harm.push("a script ran");
    const links = document.querySelectorAll<HTMLElement>("[href], [src], [action]");
    for (const link of links) {
      const to = link.getAttribute("href") ?? link.getAttribute("src") ?? link.getAttribute("action") ?? "";
      if (!["http:", "https:", "blob:"].includes(new URL(to, location.href).protocol)) harm.push(`a link to ${to}`);
    }
    // The code editor has images of its own, without a source.
    if (document.querySelectorAll("img[src], main script").length > 0) harm.push("an element was made of a text");
    const turning = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const at = (node: Node, index: number) => {
      const range = document.createRange();
      range.setStart(node, index);
      range.setEnd(node, index + 1);
      return range.getClientRects()[0];
    };
    for (let node = texts.nextNode(); node; node = texts.nextNode()) {
      const text = node.textContent ?? "";
      // Our own words, from their first letter to their last; within a sentence, those around the name.
      const first = /[a-z]/i.exec(text)?.index ?? -1;
      const last = /[a-z][^a-z]*$/i.exec(text)?.index ?? -1;
      if (first < 0 || last <= first || !node.parentElement?.checkVisibility()) continue;
      const isName = turning.test(text) && text.trim().startsWith("</style>");
      const [from, to] = [at(node, first), at(node, last)];
      if (!isName && from && to && Math.abs(from.top - to.top) < 2 && from.left > to.left)
        harm.push(`turned around: ${JSON.stringify(text.slice(0, 80))}`);
    }
    return harm;
  });
}
