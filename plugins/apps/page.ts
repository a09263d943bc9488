/**
 * The page of an app. What depends on the app alone is made once per build; a request adds who looks, where the app is
 * embedded, and the token. behaviour 2.3, B.10, architecture 5.
 */
import { escapeHtml, sha256 } from "platform";
import { failedBuildId, pageDataId, type PageData } from "./client/page-data.ts";
import { isClassic } from "./compiler/classic-mark.ts";
import { contentSecurityPolicy } from "./page-policy.ts";
import { iconOf } from "./page-icon.ts";
import type { AppRuntimes } from "./runtimes.ts";
import type { ServedApp } from "./serving.ts";

/** What a page is made of; a preview is one too. */
export type PageApp = Pick<
  ServedApp,
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

/** A saved app, or a preview: one that was never saved has nothing that a token could open. */
export type ShownApp = PageApp & { readonly isDraft?: boolean };

export interface Asset {
  readonly type: string;
  readonly code: string;
  /** Compressed once, on first use. */
  gzipped?: Promise<Uint8Array<ArrayBuffer>>;
}

export interface PageTemplate {
  /** Changes with everything that the template is made of. */
  readonly hash: string;
  /** The inline script with a viewer's context (as JSON), and the policy that names it by its hash. */
  readonly viewOf: (context: string) => { readonly script: string; readonly policy: string };
  /** The text before and behind the page's data. */
  readonly before: string;
  readonly behind: string;
  /** The app's own files: name -> content. Who has seen the page knows the names. */
  readonly assets: ReadonlyMap<string, Asset>;
  /** What of the page's data is the same for everyone, as JSON that goes on behind the token. */
  readonly fixed: string;
}

interface TemplateOptions {
  readonly runtimes: Pick<AppRuntimes, "importMap" | "preloads" | "address">;
  /** Of the page: `pl`. */
  readonly lang: string;
  /** Whether the viewer may edit the app, and so sees what goes wrong in it. */
  readonly isAuthor: boolean;
  /** What stands in front of the hash in the names of its files. */
  readonly assetKey: string;
}

export function pageTemplate(app: PageApp, options: TemplateOptions): PageTemplate {
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
    ...(isPage ? [] : runtimes.preloads(app.appEngine).map(preload)),
    isGame.has(app.appEngine) ? wholeWindow : "",
    styleTags(app, runtimes, files.style),
    isAuthor && app.failedBuild ? inertJson(failedBuildId, app.failedBuild) : "",
  ].join("");
  const behind = `</script>${scriptTags(runtimes, isAuthor)}${files.script}${isPage ? app.appCode : bodyOf}`;
  const data = { main: app.appEngine === "js" ? files.module : null, db: app.dbCode, paths: pathsOf(app) };
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
}

export function printPage(template: PageTemplate, { context, token }: Viewing): { html: string; policy: string } {
  const { before, behind, fixed, viewOf } = template;
  const { script, policy } = viewOf(context);
  const data = `{"token":${inScript(JSON.stringify(token))}${fixed}`;
  const json = `<script type="application/json" id="${pageDataId}">${data}`;
  return { html: `${before}<script>${script}</script>${json}${behind}`, policy };
}

const maxKeptViews = 100;

/** Most views of an app are alike: every visitor without sign-in has the same. */
function keptViews(app: PageApp, importMap: string): PageTemplate["viewOf"] {
  const kept = new Map<string, ReturnType<PageTemplate["viewOf"]>>();
  return (context) => {
    const found = kept.get(context);
    if (found) return found;
    const script = `window.CoreAppContext=${inScript(context)}`;
    const view = { script, policy: contentSecurityPolicy(app, [importMap, removal, script]) };
    if (kept.size >= maxKeptViews) kept.clear();
    kept.set(context, view);
    return view;
  };
}

/**
 * Their canvas is as large as what it stands in: the whole window, without an edge. One that was told no place goes into
 * the body: `#core-app`, left empty, then makes way for it.
 */
const isGame: ReadonlySet<string> = new Set(["kaboom", "phaser"]);
const wholeWindow =
  "<style>html,body,#core-app:is(:only-child,:not(:empty)){height:100%;margin:0}body>canvas,#core-app>canvas{display:block}</style>";

/** Only what the app's text names: the runtimes themselves import by address. */
function importMapOf({ appEngine, appCode }: PageApp, runtimes: TemplateOptions["runtimes"]): string {
  const named = Object.entries(runtimes.importMap(appEngine)).filter(([specifier]) => appCode.includes(specifier));
  return named.length === 0 ? "" : inScript(JSON.stringify({ imports: Object.fromEntries(named) }));
}

/** For a script that reads it: the browser runs nothing of it. */
function inertJson(id: string, value: unknown): string {
  return `<script type="application/json" id="${id}">${inScript(JSON.stringify(value))}</script>`;
}

/** JSON that stands inside a script element: nothing in it ends the element or opens a comment. */
function inScript(json: string): string {
  return json.replace(/[<>&\u2028\u2029]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

const viewport = `<meta name="viewport" content="width=device-width, initial-scale=1">`;
const bodyOf = `</head><body><div id="core-app"></div></body></html>`;

/**
 * A page of the author's own goes behind our head as it stands: a parser that has seen no `<html>` and `<body>` yet takes
 * theirs, with the attributes.
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
  // Of another origin than the page, as it is to the browser: without `crossorigin` its errors would have no text.
  if (appEngine === "js" && isClassic(appCode))
    return { assets, style, module: null, script: `<script src="${code}" crossorigin defer></script>` };
  return { assets, style, module: code, script: `<script type="module" src="${code}"></script>` };
}

/** `tailwind_all` is Tailwind's own compiler in the browser: it follows every class that the app comes to use. */
function styleTags({ appEngine, cssEngine }: PageApp, runtimes: TemplateOptions["runtimes"], style: string | null) {
  const linked = style === null ? "" : `<link rel="stylesheet" href="${style}">`;
  if (cssEngine !== "tailwind_all" || !isStyled.has(appEngine)) return linked;
  return `<script src="${runtimes.address("tailwind.js")}"></script>${linked}`;
}

/** behaviour 2.3: the CSS engine applies to these. */
const isStyled: ReadonlySet<string> = new Set(["svelte", "vue", "react"]);

/** They block: an app's script, wherever it stands, runs after them. */
function scriptTags(runtimes: TemplateOptions["runtimes"], isAuthor: boolean): string {
  const panel = isAuthor ? `<script src="${runtimes.address("panel.js")}" crossorigin></script>` : "";
  return `<script src="${runtimes.address("core.js")}" crossorigin></script><script>${removal}</script>${panel}`;
}

/** Where core.js did not load, the token must not stand in the page when the app's scripts run. */
const removal = `document.getElementById("${pageDataId}")?.remove()`;

function preload(address: string): string {
  return `<link rel="modulepreload" href="${address}">`;
}

/** Where the app's token may open something. A database has two ids, of which the page knows one: the server decides. */
function pathsOf({ id, urlCode, dbCode }: PageApp): string[] {
  const apps = [id, urlCode].filter((key) => key !== "").map((key) => `/core/apps/${key}/`);
  return dbCode === null ? apps : [...apps, `/core/db/${encodeURIComponent(dbCode)}/`, "/core/dbs/"];
}
