/** The address as state: the History API, and links that change it without loading the page anew. */

import { ownPath, shownPath } from "../shown.ts";

class Router {
  /** By what the page is found: the address bar shows `shownPath` of it. */
  path = $state(ownPath(location.pathname));
  search = $state(location.search);
  /** Asked before the page is left; false keeps it. */
  guard: (() => boolean) | undefined;

  begin(): void {
    this.read();
    addEventListener("popstate", () => this.read());
    document.addEventListener("click", (event) => this.follow(event));
  }

  get query(): URLSearchParams {
    return new URLSearchParams(this.search);
  }

  go(address: string, { replace = false } = {}): void {
    const [, path = "", query = ""] = /^([^?#]*)(.*)$/s.exec(address) ?? [];
    const shown = shownPath(ownPath(path)) + query;
    if (replace) history.replaceState(null, "", shown);
    else history.pushState(null, "", shown);
    const before = this.path;
    this.read();
    if (this.path === before) return;
    scrollTo(0, 0);
    document.querySelector(".work")?.scrollTo(0, 0); // on a phone
  }

  /** Changes parameters of the query; undefined and "" remove one. */
  set(values: Readonly<Record<string, string | undefined>>, options: { replace?: boolean } = {}): void {
    const query = this.query;
    for (const [name, value] of Object.entries(values)) {
      if (value === undefined || value === "") query.delete(name);
      else query.set(name, value);
    }
    const text = query.toString();
    this.go(`${this.path}${text === "" ? "" : `?${text}`}`, options);
  }

  private read(): void {
    this.path = ownPath(location.pathname);
    const shown = shownPath(this.path);
    if (shown !== location.pathname) history.replaceState(history.state, "", shown + location.search + location.hash);
    this.search = location.search;
  }

  private follow(event: MouseEvent): void {
    if (
      event.defaultPrevented ||
      event.button !== 0 ||
      event.metaKey ||
      event.ctrlKey ||
      event.shiftKey ||
      event.altKey
    )
      return;
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    if (!link || link.target || link.hasAttribute("download") || link.origin !== location.origin) return;
    if (!/^\/studio(\/|$)/.test(link.pathname) || link.pathname.startsWith("/studio/-/")) return;
    if (link.hash !== "" && link.pathname === location.pathname) return;
    event.preventDefault();
    this.go(link.pathname + link.search);
  }
}

export const router = new Router();
