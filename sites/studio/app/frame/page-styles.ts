/**
 * The style of the pages of built-in plugins. The document names it for no medium, so that browsers fetch it without
 * waiting for it (shell.ts); the frame switches it on once it stands.
 */
let ready: Promise<void> | undefined;

export function pageStyles(): Promise<void> {
  ready ??= new Promise((resolve) => {
    const link = document.querySelector<HTMLLinkElement>("#page-styles");
    if (!link) return resolve();
    link.addEventListener("load", () => resolve(), { once: true });
    link.addEventListener("error", () => resolve(), { once: true }); // a page without its style can be used
    link.media = "all";
    if (link.sheet) resolve();
  });
  return ready;
}
