import {
  answer,
  contentHash,
  etag,
  isKnownTag,
  languageOf,
  notFound,
  redirect,
  route,
  text,
  unauthorized,
} from "platform";
import type { Account, Reply, RequestInput, Route } from "platform";
import type { AppContext } from "../client/page-data.ts";
import {
  accountSettings,
  framePage,
  framePolicy,
  askingPage,
  askingPolicy,
  noticePage,
  noticePolicy,
} from "./around.ts";
import { contextOf, nobody, embedOf } from "./page-context.ts";
import { isFramed, pageTemplate, printPage } from "./page.ts";
import type { Asset, PageApp, PageTemplate, ShownApp } from "./page.ts";
import { findPreview } from "../manage/preview-routes.ts";
import { tokenFor } from "./token.ts";
import type { AppRuntimes } from "../build/runtimes.ts";
import * as servedApps from "./served-apps.ts";
import type { AppsContext } from "../context.ts";

const noApp = "There is no app at this address, or it is switched off.";

type Input = Omit<RequestInput, "params">;

const html = "text/html; charset=utf-8";
const Html = answer.text("text/html");
const query = {
  embed: "1 = inside a frame of this origin: the page reports its height by `postMessage`",
  module: "the module that it is embedded in, for `CoreAppContext`",
  view: "the view that it is embedded in, e.g. `tasks/show`",
  record_id: "the record that is shown there",
  frame: "1 = of a private app the page around it, as a browser's window gets it",
  "*": "any other parameter is the app's own",
};

const pageAnswers = {
  answers: { 200: Html, 401: [Html, answer.error], 404: [Html, answer.error] },
  responses: { 200: "<!doctype html> …", 303: null, 304: null, 401: { error: "sign in" }, 404: "<!doctype html> …" },
};

/** The pages of apps, and their own files. behaviour 4.3, B.10. */
export function pageRoutes(ctx: AppsContext): Route[] {
  return [
    route(
      "GET",
      "/a/:url_code",
      {
        summary: "The page of an app, by its url_code or id",
        access: { open: "a public app is for everyone; a private one asks for sign-in itself", partly: true },
        onSites: true,
        query,
        ...pageAnswers,
      },
      async (input) => {
        const app = await servedApps.findForPage(ctx, input.account.id, input.params.url_code);
        if (!app) return missing(input, noApp);
        if (!app.public && !input.caller) return signInFirst(input);
        if (isFramed(app) && isWindow(input)) return around(input, app, ctx.runtimes);
        return show(ctx, input, app, templateOf(ctx, app, input));
      },
    ),
    route(
      "GET",
      "/a/preview/:token",
      {
        summary: "The page of a preview, for ten minutes",
        access: { open: "only its author sees an unsaved app; others are asked to sign in", partly: true },
        query,
        ...pageAnswers,
      },
      async (input) => {
        if (!input.caller) return signInFirst(input);
        const app = await findPreview(ctx, input.account.id, input.params.token);
        if (!app || app.madeById !== input.caller.user.id)
          return missing(input, "This preview has expired, or it belongs to someone else.");
        // The address is the key to the preview, so it must not leak.
        const reply = await show(ctx, input, app, templateOf(ctx, app, input, `preview-${input.params.token}`));
        return { ...reply, headers: { ...reply.headers, "referrer-policy": "no-referrer" } };
      },
    ),
    route(
      "GET",
      "/a/-/:file",
      {
        summary: "The code or the styles of an app",
        description:
          "The name contains the hash of the content: only those who have seen the page know it, and the content never changes.",
        access: { open: "the page in its sandbox has no credential; the name cannot be guessed" },
        onSites: true,
        answers: { 200: [answer.text("text/javascript"), answer.text("text/css")] },
        responses: { 200: "export default …", 304: null, 404: { error: "not found" } },
      },
      async (input) => {
        const { file } = input.params;
        const [key = ""] = file.split(".", 1);
        const preview = key.startsWith("preview-") ? key.slice("preview-".length) : undefined;
        const { id } = input.account;
        const app = preview ? await findPreview(ctx, id, preview) : await servedApps.findForPage(ctx, id, key);
        const asset = app && templateOf(ctx, app, input, preview && key).assets.get(file);
        if (!asset) throw notFound();
        return fileReply(input.request, asset, {
          "cache-control": `${app.public && !preview ? "public" : "private"}, max-age=31536000, immutable`,
          etag: etag(file, 1),
        });
      },
    ),
  ];
}

/** Whether a browser loads the page into a window of its own. Browsers say it over https and on localhost. */
function isWindow(input: Pick<Input, "request" | "query">): boolean {
  return input.request.headers.get("sec-fetch-dest") === "document" || input.query.get("frame") === "1";
}

/** The app itself is at its other address: browsers show no frame that has the address of the page around it. */
function around(input: Input & { params: { url_code: string } }, app: ShownApp, runtimes: AppRuntimes): Reply {
  const own = new URLSearchParams(input.query);
  own.delete("frame");
  const key = input.params.url_code === app.id ? app.urlCode : app.id;
  const address = `/a/${key}${own.size > 0 ? `?${own}` : ""}`;
  const page = framePage(app, { lang: input.account.locale, address, script: runtimes.address("frame.js") });
  return text(200, page, html, { etag: `"${contentHash(page)}"`, "content-security-policy": framePolicy, vary });
}

const vary = "sec-fetch-dest";

// Templates are made once per build: the cache of apps returns the same object until the app changes.
const templates = new WeakMap<PageApp, Map<string, PageTemplate>>();

function templateOf(
  { runtimes }: AppsContext,
  app: PageApp,
  { account, caller }: Pick<Input, "account" | "caller">,
  key?: string,
): PageTemplate {
  const isAuthor = caller?.privileges.has("apps") === true;
  const name = `${account.locale} ${isAuthor}`;
  const variants = templates.get(app) ?? new Map<string, PageTemplate>();
  const found = variants.get(name);
  if (found) return found;
  const template = pageTemplate(app, { runtimes, lang: account.locale, isAuthor, assetKey: key ?? app.id });
  templates.set(app, variants.set(name, template));
  return template;
}

async function show(ctx: AppsContext, input: Input, app: ShownApp, template: PageTemplate): Promise<Reply> {
  const { account, caller } = input;
  const visitor = ctx.databases.visitor(input);
  const user = caller ? await contextOf(ctx.accounts, account, caller.user) : nobody;
  const shown = printedContext(app, input, user);
  const hasToken = !app.trusted && app.isDraft !== false;
  const token = hasToken ? tokenOf(ctx, app, { caller, visitor: visitor.cookieKey }) : null;
  const { origins } = await ctx.accounts.settingsOf(account.id, accountSettings);
  const page = printPage(template, { context: shown, token, origins });
  return text(200, page.html, html, {
    etag: etagOf(template, [shown, caller?.tokenId, visitor.cookieKey, ...origins]),
    "content-security-policy": page.policy,
    // Browsers refuse to show a sandboxed page with any other value.
    "cross-origin-opener-policy": "unsafe-none",
    ...(isFramed(app) && { vary }),
    // DNS lookups could carry data out of the sandbox.
    "x-dns-prefetch-control": "off",
    ...visitor.headers,
  });
}

// The context is the same for all visitors without sign-in and without parameters in the address.
const ofNobody = new WeakMap<
  PageApp,
  Readonly<{ account: Account; baseUrl: string; language: string; json: string }>
>();

/** `CoreAppContext` as JSON. */
function printedContext(app: PageApp, { account, request, query: asked }: Input, user: AppContext["user"]): string {
  const { baseUrl } = account;
  const language = languageOf(request);
  const isPlain = user === nobody && asked.size === 0;
  const found = isPlain ? ofNobody.get(app) : undefined;
  if (found?.account === account && found.baseUrl === baseUrl && found.language === language) return found.json;
  const context: AppContext = {
    user,
    app: { id: app.id, name: app.name, url_code: app.urlCode },
    base_url: baseUrl,
    locale: account.locale,
    language,
    timezone: account.timezone,
    ...embedOf(asked),
  };
  const json = JSON.stringify(context);
  if (isPlain) ofNobody.set(app, { account, baseUrl, language, json });
  return json;
}

/** How long a browser may show its cached page again, including the token in it. */
const samePageSeconds = 600;

/** Covers everything on the page except its token, which may be a little older. */
function etagOf({ hash }: PageTemplate, shown: readonly unknown[]): string {
  const slot = Math.floor(Date.now() / 1000 / samePageSeconds);
  return `"${contentHash([hash, slot, ...shown].join("\n"))}"`;
}

function tokenOf(ctx: AppsContext, app: ShownApp, viewer: Parameters<typeof tokenFor>[2]) {
  const { token, expiresAt } = tokenFor(ctx, app, viewer);
  const lives = Math.floor((expiresAt.getTime() - Date.now()) / 1000);
  return { value: token, expires_in: Math.max(lives - samePageSeconds, 60) };
}

async function fileReply({ headers }: Request, asset: Asset, own: Record<string, string>): Promise<Reply | Response> {
  const all = {
    ...own,
    "content-type": asset.type,
    vary: "accept-encoding",
    // The page's origin is opaque.
    "access-control-allow-origin": "*",
    "cross-origin-resource-policy": "cross-origin",
  };
  if (!/\bgzip\b(?!;\s*q=0(?:\.0*)?(?:,|$))/.test(headers.get("accept-encoding") ?? ""))
    return { status: 200, body: asset.code, headers: all };
  const tag = `${own["etag"]?.slice(0, -1)}-gzip"`;
  const compressed = { ...all, etag: tag, "content-encoding": "gzip" };
  if (isKnownTag(headers.get("if-none-match"), tag)) return new Response(null, { status: 304, headers: compressed });
  asset.gzipped ??= gzipped(asset.code);
  return new Response(await asset.gzipped, { headers: compressed });
}

async function gzipped(code: string): Promise<Uint8Array<ArrayBuffer>> {
  return new Response(new Blob([code]).stream().pipeThrough(new CompressionStream("gzip"))).bytes();
}

function wantsPage({ headers }: Request): boolean {
  return (headers.get("accept") ?? "").includes("text/html");
}

function missing({ request }: Pick<Input, "request">, message: string): Reply {
  if (!wantsPage(request)) throw notFound();
  return text(404, noticePage("Not found", message), html, { "content-security-policy": noticePolicy });
}

/** Nobody is signed in on a site's host, so a private app does not exist there. */
function signInFirst(input: Input): Reply {
  const { request, atSite } = input;
  if (atSite) return missing(input, noApp);
  if (!wantsPage(request)) throw unauthorized();
  // A frame that leads itself somewhere sends no session (SameSite): the page around it is asked to load the address.
  if (request.headers.get("sec-fetch-dest") === "iframe")
    return text(401, askingPage, html, { "content-security-policy": askingPolicy, "cache-control": "no-store", vary });
  const { pathname, search } = new URL(request.url);
  return redirect(303, `/login?return_to=${encodeURIComponent(pathname + search)}`, { "cache-control": "no-store" });
}
