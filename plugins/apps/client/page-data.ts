/**
 * The inert JSON that the server writes into an app's page, beside `window.CoreAppContext`. It is read once, before any
 * line of the app runs, and then removed from the document, because it contains the app token.
 */
export interface PageData {
  /** The address of a plain script whose default export will be shown; null for the other engines. */
  readonly main: string | null;
  /** The code of the app's own database. */
  readonly db: string | null;
  /** The app runs only in a frame of our own page. */
  readonly framed: boolean;
  /** Null for a trusted app, which runs on the viewer's session. */
  readonly token: PageToken | null;
  /** The token is added to the app's requests whose paths begin with one of these. */
  readonly paths: readonly string[];
}

export interface PageToken {
  readonly value: string;
  /** The token works for at least this long after the page was received. */
  readonly expires_in: number;
}

/** `window.CoreAppContext` (behaviour 2.3). */
export interface AppContext {
  /** A visitor without sign-in is a guest whose other fields are empty. */
  readonly user: ContextUser;
  readonly app: { readonly id: string; readonly name: string; readonly url_code: string };
  readonly base_url: string;
  readonly locale: string;
  /** The viewer's, of the three of the Studio. */
  readonly language: string;
  readonly timezone: string;
  readonly embed: boolean;
  /** Where the app is embedded: the module, the view (`tasks/show`) and the record that is shown there. */
  readonly module: string | null;
  readonly view: string | null;
  readonly record_id: string | null;
}

export interface ContextUser {
  readonly login: string;
  readonly email: string | null;
  readonly name: string;
  readonly role: string;
  readonly team_ids: readonly number[];
  readonly team_names: readonly string[];
  readonly group_ids: readonly number[];
  readonly group_names: readonly string[];
  readonly department_ids: readonly number[];
  readonly department_names: readonly string[];
}

/** The id of the element that holds the JSON. */
export const pageDataId = "core-page";

/** The id of the element that tells authors why the last change of the source was not saved: an array of texts. */
export const failedBuildId = "core-failed-build";

/** The page's data with the context, which an earlier script has set. */
export type TakenData = PageData & { readonly context: AppContext };

export function takePageData(): TakenData | undefined {
  const element = document.getElementById(pageDataId);
  if (!element) return undefined;
  const source = element.textContent ?? "";
  element.remove();
  element.textContent = "";
  // Our own server has written both (serve/page.ts).
  const { CoreAppContext: context } = window as unknown as { readonly CoreAppContext: AppContext };
  return { ...(JSON.parse(source) as PageData), context };
}
