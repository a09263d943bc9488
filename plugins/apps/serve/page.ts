/**
 * The page of an app. A template is made once per build; each request adds the viewer, the place where the app is
 * embedded, and the token. behaviour 2.3, B.10, architecture 5.
 */
import { escapeHtml, sha256 } from "platform";
import { failedBuildId, pageDataId, type PageData } from "../client/page-data.ts";
import { isClassic } from "../compiler/task.ts";
import { contentSecurityPolicy, iconOf } from "./around.ts";
import type { AppRuntimes } from "../build/runtimes.ts";
import type { ServedRow } from "../store.ts";

/** The parts of a page, also of a preview. */
export type PageApp = Pick<
  ServedRow,
  | "id"
  | "accountId"
  | "name"
  | "urlCode"
  | "appEngine"
  | "cssEngine"
  | "public"
  | "trusted"
  | "dbCode"
  | "appCode"
  | "cssCode"
  | "fields"
> & { readonly failedBuild?: readonly string[] | null };

/** Whether a window shows the app in a frame of our own page. A preview is seen by its author alone. */
export function isFramed(app: ShownApp): boolean {
  return !app.public && !app.trusted && !isPreview(app);
}

function isPreview({ isDraft }: ShownApp): boolean {
  return isDraft !== undefined;
}

/** A saved app or a preview. A preview of an app that was never saved has nothing that a token could open. */
export type ShownApp = PageApp & { readonly isDraft?: boolean };

export interface PreviewApp extends PageApp {
  /** The only person who may see it: the code runs with its viewer's rights. */
  readonly madeById: number;
  /** Whether it is a draft of a saved app and so uses that app's database, actions and storage. */
  readonly isDraft: boolean;
  readonly expiresAt: Date;
}

export interface Asset {
  readonly type: string;
  readonly code: string;
  /** Compressed once, on first use. */
  gzipped?: Promise<Uint8Array<ArrayBuffer>>;
}

export interface PageTemplate {
  /** Changes whenever any part of the template does. */
  readonly hash: string;
  /** The inline script with a viewer's context (as JSON), and the policy that names it by its hash. */
  readonly viewOf: (
    context: string,
    origins: readonly string[],
  ) => { readonly script: string; readonly policy: string };
  /** The text before and after the page's data. */
  readonly before: string;
  readonly behind: string;
  /** The app's own files: name -> content. Only those who have seen the page know the names. */
  readonly assets: ReadonlyMap<string, Asset>;
  /** The part of the page's data that is the same for everyone: JSON that continues after the token. */
  readonly fixed: string;
}

interface TemplateOptions {
  readonly runtimes: Pick<AppRuntimes, "importMap" | "preloads" | "address">;
  /** The page's language: `pl`. */
  readonly lang: string;
  /** Whether the viewer may edit the app and so sees its errors. */
  readonly isAuthor: boolean;
  /** The prefix of the hash in the names of its files. */
  readonly assetKey: string;
}

export function pageTemplate(app: ShownApp, options: TemplateOptions): PageTemplate {
  const { runtimes, isAuthor } = options;
  const isPage = app.appEngine === "html";
  const files = filesOf(app, options.assetKey);
  const importMap = importMapOf(app, runtimes);
  const before = [
    isPage
      ? openingOf(app, options)
      : `<!doctype html><html lang="${escapeHtml(options.lang)}"><head><meta charset="utf-8">${viewport}`,
    isPage && /<title[\s>]/i.test(app.appCode) ? "" : `<title>${escapeHtml(app.name)}</title>`,
    `<link rel="icon" href="${iconOf(app)}">`,
    importMap === "" ? "" : `<script type="importmap">${importMap}</script>`,
    ...(isPage ? [] : runtimes.preloads(app.appEngine, isPreview(app)).map(preload)),
    isGame.has(app.appEngine) ? wholeWindow : "",
    styleTags(app, runtimes, files.style),
    isAuthor && app.failedBuild ? inertJson(failedBuildId, app.failedBuild) : "",
  ].join("");
  const behind = `</script>${scriptTags(runtimes, isAuthor)}${files.script}${isPage ? app.appCode : bodyOf}`;
  const main = app.appEngine === "js" ? files.module : null;
  const data = { main, db: app.dbCode, framed: isFramed(app), paths: pathsOf(app) };
  const fixed = `,${inScript(JSON.stringify(data satisfies Omit<PageData, "token">)).slice(1)}`;
  return {
    hash: sha256(`${before}\n${behind}\n${fixed}`),
    viewOf: keptViews(app, importMap),
    before,
    behind,
    assets: files.assets,
    fixed,
  };
}

export interface Viewing {
  /** The AppContext, as JSON. */
  readonly context: string;
  readonly token: PageData["token"];
  /** Other hosts that its pictures, fonts, styles and media may come from. */
  readonly origins: readonly string[];
}

export function printPage(
  template: PageTemplate,
  { context, token, origins }: Viewing,
): { html: string; policy: string } {
  const { before, behind, fixed, viewOf } = template;
  const { script, policy } = viewOf(context, origins);
  const data = `{"token":${inScript(JSON.stringify(token))}${fixed}`;
  const json = `<script type="application/json" id="${pageDataId}">${data}`;
  return { html: `${before}<script>${script}</script>${json}${behind}`, policy };
}

const maxKeptViews = 100;

/** Most views of an app are the same: all visitors without sign-in share one. */
function keptViews(app: PageApp, importMap: string): PageTemplate["viewOf"] {
  const kept = new Map<string, ReturnType<PageTemplate["viewOf"]>>();
  return (context, origins) => {
    const key = [...origins, context].join(" ");
    const found = kept.get(key);
    if (found) return found;
    const script = `window.CoreAppContext=${inScript(context)}`;
    const view = { script, policy: contentSecurityPolicy(app, [importMap, removal, script], origins) };
    if (kept.size >= maxKeptViews) kept.clear();
    kept.set(key, view);
    return view;
  };
}

/**
 * A game's canvas fills its container: the whole window, without margins. A game without a container puts its canvas into
 * the body; the empty `#core-app` then takes no space.
 */
const isGame: ReadonlySet<string> = new Set(["kaboom", "phaser"]);
const wholeWindow =
  "<style>html,body,#core-app:is(:only-child,:not(:empty)){height:100%;margin:0}body>canvas,#core-app>canvas{display:block}</style>";

/** Only the specifiers that occur in the app's text: the runtimes themselves import by address. */
function importMapOf(app: ShownApp, runtimes: TemplateOptions["runtimes"]): string {
  const map = Object.entries(runtimes.importMap(app.appEngine, isPreview(app)));
  const named = map.filter(([specifier]) => app.appCode.includes(specifier));
  return named.length === 0 ? "" : inScript(JSON.stringify({ imports: Object.fromEntries(named) }));
}

/** Data for a script to read. The browser does not execute it. */
function inertJson(id: string, value: unknown): string {
  return `<script type="application/json" id="${id}">${inScript(JSON.stringify(value))}</script>`;
}

/** JSON that is safe inside a script element: it cannot end the element or open a comment. */
function inScript(json: string): string {
  return json.replace(/[<>&\u2028\u2029]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

const viewport = `<meta name="viewport" content="width=device-width, initial-scale=1">`;
const bodyOf = `</head><body><div id="core-app"></div></body></html>`;

/**
 * An author's own page follows our head unchanged: a parser that has not seen `<html>` and `<body>` yet accepts the
 * author's, with their attributes.
 */
function openingOf({ appCode }: PageApp, { lang }: TemplateOptions): string {
  const html = /<html[\s>]/i.test(appCode) ? "" : `<html lang="${escapeHtml(lang)}">`;
  return `<!doctype html>${html}<meta charset="utf-8">${/name=["']?viewport/i.test(appCode) ? "" : viewport}`;
}

function filesOf({ appEngine, appCode, cssCode }: PageApp, assetKey: string) {
  const assets = new Map<string, Asset>();
  const add = (ending: "js" | "css", type: string, code: string) => {
    const name = `${assetKey}.${sha256(code).slice(0, 32)}.${ending}`;
    assets.set(name, { type, code });
    return `/a/-/${name}`;
  };
  const style = cssCode === "" ? null : add("css", "text/css; charset=utf-8", cssCode);
  if (appEngine === "html") return { assets, style, module: null, script: "" };
  const code = add("js", "text/javascript; charset=utf-8", appCode);
  // To the browser the script has another origin than the page: without `crossorigin` its errors would have no text.
  if (appEngine === "js" && isClassic(appCode))
    return { assets, style, module: null, script: `<script src="${code}" crossorigin defer></script>` };
  return { assets, style, module: code, script: `<script type="module" src="${code}"></script>` };
}

/** `tailwind_all` is Tailwind's compiler in the browser, which also sees classes that the app adds later. */
function styleTags({ appEngine, cssEngine }: PageApp, runtimes: TemplateOptions["runtimes"], style: string | null) {
  const linked = style === null ? "" : `<link rel="stylesheet" href="${style}">`;
  if (cssEngine !== "tailwind_all" || !isStyled.has(appEngine)) return linked;
  return `<script src="${runtimes.address("tailwind.js")}"></script>${linked}`;
}

/** behaviour 2.3: the CSS engine applies to these. */
const isStyled: ReadonlySet<string> = new Set(["svelte", "vue", "react"]);

/** These scripts block, so every script of the app runs after them. */
function scriptTags(runtimes: TemplateOptions["runtimes"], isAuthor: boolean): string {
  const panel = isAuthor ? `<script src="${runtimes.address("panel.js")}" crossorigin></script>` : "";
  return `<script src="${runtimes.address("core.js")}" crossorigin></script><script>${removal}</script>${panel}`;
}

/** If core.js did not load, this removes the token from the page before the app's scripts run. */
const removal = `document.getElementById("${pageDataId}")?.remove()`;

function preload(address: string): string {
  return `<link rel="modulepreload" href="${address}">`;
}

/** The paths where the app's token may open something: whose database it is, the server decides. */
function pathsOf({ id, urlCode }: PageApp): string[] {
  const apps = [id, urlCode].filter((key) => key !== "").map((key) => `/core/apps/${key}/`);
  return [...apps, "/core/media.json", "/core/media/", "/core/db/", "/core/dbs/"];
}
