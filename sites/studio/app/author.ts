/**
 * What the page of a plugin gets in the Studio, and the elements that it may use:
 *
 *     import type { Mount } from "platform/studio";
 *     export const mount: Mount = async (element, { api, t }) => { … };
 *
 * These are types only: a page imports nothing of the Studio when it runs.
 */

/** Puts the page into `element`. Gives back what ends it: called when the page is left. */
export type Mount = (element: HTMLElement, ctx: StudioContext) => MountResult | Promise<MountResult>;
export type MountResult = (() => void) | void;

export interface StudioContext {
  /** Grows when something here changes its meaning. */
  readonly version: 1;
  /** The values of the path's parameters: `id` of `crm/contacts/:id`. */
  readonly params: Readonly<Record<string, string>>;
  /**
   * A request with the session. It waits while the server is away, and while a session that has ended is renewed. It
   * throws an ApiFailure for what the server refuses.
   */
  readonly api: (method: string, path: string, options?: ApiOptions) => Promise<ApiAnswer>;
  /** Opens another page: `crm/contacts/7`. */
  readonly navigate: (path: string) => void;
  /** The person's language: `en`, `pl` or `de`. With another one the page is mounted anew. */
  readonly locale: string;
  /** One of the page's own texts, with values in place of `{name}`. */
  readonly t: (texts: Texts, values?: Readonly<Record<string, string | number>>) => string;
  /** How it looks just now. What uses the Studio's CSS variables follows by itself; a canvas asks. */
  readonly theme: "light" | "dark";
  /** Says something at the edge of the page. */
  readonly toast: (words: string, options?: ToastOptions) => void;
  /** Asks yes or no in a dialog: `if (await confirm(…))`. One who leaves the page says no. */
  readonly confirm: (words: string) => Promise<boolean>;
  /**
   * Calls `changed` when a record of the database changes: `event.type` is `create`, `update` or `destroy`, `event.data`
   * the record as JSON. `reset` says that changes were missed. Gives back a function that ends it; leaving the page ends
   * it too.
   */
  readonly live: (dbCode: string, changed: (event: MessageEvent) => void) => () => void;
}

/** A text by language; English stands in for a missing one. */
export type Texts = { readonly en: Wording } & { readonly [language in "pl" | "de"]?: Wording };

/** A text, or its forms by the number `count`: `{ one: "{count} item", other: "{count} items" }`. */
export type Wording =
  | string
  | { readonly one: string; readonly few?: string; readonly many?: string; readonly other: string };

export interface ApiOptions {
  readonly body?: unknown;
  /** The ETag of what is to be changed. */
  readonly ifMatch?: string | undefined;
  readonly signal?: AbortSignal;
}

export interface ApiAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** As /openapi.json describes it; null where the body is empty. */
  readonly json: unknown;
}

/** What `api` throws. */
export interface ApiFailure extends Error {
  readonly status: number;
  /** By field, for a 422: give them to the `messages` of its `<studio-field>`. */
  readonly errors: Readonly<Record<string, readonly string[]>>;
}

export interface ToastOptions {
  /** It is announced at once, and stays longer. */
  readonly error?: boolean;
  /** A button takes back what was done. */
  readonly undo?: () => void;
}

/** The elements, by name: `document.createElement("studio-field")`. */
export interface StudioElements {
  "studio-field": StudioField;
  "studio-editor": StudioEditor;
  "studio-grid": StudioGrid;
  "studio-dialog": StudioDialog;
}

/** Events bubble. */
interface Listens<Events> {
  addEventListener<K extends keyof Events>(
    type: K,
    listener: (event: CustomEvent<Events[K]>) => void,
    options?: boolean | AddEventListenerOptions,
  ): void;
}

/** `studio-change`: the person has changed its value. */
interface Changes {
  "studio-change": null;
}

/** `studio-open`: a row was clicked, or Enter pressed on it. `studio-sort`: the person asks for an order. */
interface GridEvents {
  "studio-open": { readonly row: GridRow };
  "studio-sort": { readonly sort: string };
  "studio-choose": { readonly rows: readonly GridRow[] };
}

/** `studio-close`: the person has closed it, e.g. by Esc. */
interface DialogEvents {
  "studio-close": null;
}

export type StudioField = Listens<Changes> & HTMLElement & FieldProperties;
export type StudioEditor = Listens<Changes> & HTMLElement & EditorProperties;
export type StudioGrid = Listens<GridEvents> & HTMLElement & GridProperties;
export type StudioDialog = Listens<DialogEvents> & HTMLElement & DialogProperties;

export type StudioFieldKind =
  | "line"
  | "text"
  | "secret"
  | "number"
  | "flag"
  | "choice"
  | "choices"
  | "list"
  | "time"
  | "date"
  | "json"
  | "lookup"
  | "lookups";

/**
 * A field with its label, help and messages: `<studio-field name="title" label="Title" required></studio-field>`. It
 * belongs to the form around it. Properties of a simple type are attributes too.
 */
export interface FieldProperties {
  /** Under which the form sends it. */
  name: string;
  label: string;
  /** `line` unless something else is said. */
  kind: StudioFieldKind;
  /** JSON: a text, a number of `number`, a flag of `flag`, texts of `choices` and `list`; null for an empty number. */
  value: unknown;
  /** Of `choice` and `choices`. */
  choices: readonly (string | { readonly value: string; readonly label: string })[];
  /** Of `lookup` and `lookups`: the list whose items are chosen, e.g. `/core/dbs`. The value is an id. */
  resource: string;
  help: string;
  required: boolean;
  disabled: boolean;
  /** What is wrong with it. */
  messages: readonly string[];
  /** What is wrong with what was typed, e.g. letters in a number; empty if nothing is. */
  readonly mistake: string;
}

/** Of `<studio-editor>`. */
export type StudioLanguage =
  | "text"
  | "markdown"
  | "liquid"
  | "json"
  | "html"
  | "css"
  | "javascript"
  | "jsx"
  | "typescript"
  | "tsx"
  | "svelte"
  | "vue";

/** A text with line numbers, colours and completion. It belongs to the form around it. */
export interface EditorProperties {
  name: string;
  label: string;
  value: string;
  language: StudioLanguage;
  /** Lines that are shown at least. */
  rows: number;
  readonly: boolean;
  /** Marked in the text; lines and columns are counted from 1. */
  faults: readonly { readonly line: number; readonly column: number; readonly message: string }[];
}

export type GridRow = Readonly<Record<string, unknown>>;

/** A table whose cells are reached by arrows, Home, End, Page Up and Page Down; narrow ones become cards. */
export interface GridProperties {
  label: string;
  rows: readonly GridRow[];
  /** Fields of a row, in words or with words of your own. With `sorts` the heading asks for an order. */
  columns: readonly (string | GridColumn)[];
  /** The field that tells rows apart; `id` unless something else is said. */
  key: string;
  /** `title`, or `-title` for the other direction. */
  sort: string;
  /** Rows can be chosen, by a box or Shift+Space. */
  selectable: boolean;
  /** The keys of those that are chosen. */
  chosen: readonly string[];
  /** What stands there without rows. */
  empty: string;
}

export interface GridColumn {
  readonly name: string;
  readonly label?: string;
  readonly sorts?: boolean;
}

/** A modal dialog around the element's own children. The focus goes in, stays, and comes back. */
export interface DialogProperties {
  label: string;
  open: boolean;
  wide: boolean;
}
