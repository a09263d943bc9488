/**
 * What the module of a plugin's page is given: `mount(element, ctx)` puts the page into the element, and gives back a
 * function that takes it away. `ctx.version` grows when something here changes its meaning.
 */
import { base } from "./address.ts";
import { get, request, type Answer, type Options } from "./api.ts";
import { router } from "./router.svelte.ts";
import { text } from "./text.svelte.ts";
import { toasts } from "./toasts.svelte.ts";

export interface MountContext {
  readonly version: 1;
  /** The values of the path's parameters. */
  readonly params: Readonly<Record<string, string>>;
  /** A request with the session; it throws what the API refuses, with `status`, `message` and `errors` by field. */
  readonly api: (method: string, path: string, options?: Options) => Promise<Answer>;
  /** Opens another page: `crm/contacts/7`. */
  readonly navigate: (path: string) => void;
  /** `en`, `pl` or `de`. */
  readonly locale: string;
  /** One of several texts by language; English stands in for a missing one. */
  readonly t: (texts: { readonly en: string; readonly pl?: string; readonly de?: string }) => string;
  /** Says something at the edge of the page. */
  readonly toast: (words: string) => void;
  /** Asks yes or no. */
  readonly confirm: (words: string) => boolean;
  /**
   * Calls `changed` when a record of the database changes: `event.type` is `create`, `update` or `destroy`, `event.data`
   * the record as JSON. `reset` says that changes were missed. Gives back a function that ends it.
   */
  readonly live: (dbCode: string, changed: (event: MessageEvent) => void) => () => void;
}

type Mount = (element: HTMLElement, ctx: MountContext) => (() => void) | undefined | Promise<(() => void) | undefined>;

/** Throws where the module exports no `mount`. */
export async function mountExternal(
  module: string,
  element: HTMLElement,
  params: MountContext["params"],
): Promise<() => void> {
  const loaded: { readonly mount?: Mount } = await import(module);
  if (typeof loaded.mount !== "function") throw new Error("the module exports no mount(element, ctx)");
  const unmount = await loaded.mount(element, contextOf(params));
  return () => unmount?.();
}

function contextOf(params: MountContext["params"]): MountContext {
  return {
    version: 1,
    params,
    api: (method, path, options) => (method === "GET" ? get(path, options?.signal) : request(method, path, options)),
    navigate: (path) => router.go(`${base}/${path.replace(/^\//, "")}`),
    locale: text.language,
    t: (texts) => texts[text.language] ?? texts.en,
    toast: (words) => toasts.say(words),
    confirm: (words) => confirm(words),
    live: (dbCode, changed) => {
      const source = new EventSource(`/core/dbs/${encodeURIComponent(dbCode)}/events`);
      for (const kind of ["create", "update", "destroy", "reset"]) source.addEventListener(kind, changed);
      return () => source.close();
    },
  };
}
