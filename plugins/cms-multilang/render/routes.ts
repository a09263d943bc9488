/**
 * `/w/<site code>/…` previews a site before its domains point here; `POST /cms/pages/preview` renders a page as an
 * editor has it, on each domain and in each language. behaviour 4.6, B.11.
 */
import { answer, field, notFound, redirect, route, text, Type, unauthorized, ok } from "platform";
import type { Reply, Route } from "platform";
import { askedPath, linksOf, langOf } from "./addresses/addresses.ts";
import { faultPage, TemplateFault } from "./templates/blocks.ts";
import { pageNumberOf } from "./values/params.ts";
import { htmlType, typeOf } from "./door/replies.ts";
import { schemeOf, type CmsContext } from "../context.ts";
import { DraftBody, makePreview, previewOf } from "./draft/drafts.ts";
import { locales } from "../locales.ts";
import * as renderStore from "./store.ts";
import * as finder from "./addresses/find.ts";
import * as composer from "./compose.ts";

const line = Type.String();
const orNull = field.nullable;

const Alternate = answer.object("Alternate", { locale: line, url: line });

/** What the head of a page tells search engines. */
const PageSeen = answer.object("PageSeen", {
  title: orNull(line),
  description: orNull(line),
  canonical_url: orNull(line),
  alternates: answer.list(Alternate),
  robots: orNull(line),
  lang: orNull(line),
});

const DraftPreview = answer.object("DraftPreview", {
  url: line,
  expires_at: answer.time(),
  domain: orNull(line),
  locale: field.oneOf(locales),
  address: orNull(line),
  redirects_to: orNull(line),
  seen: PageSeen,
  canonical_url: orNull(line),
  alternates: answer.list(Alternate),
  fault: orNull(line),
});

/** The end of a page's path decides its type. */
const sitePage = [
  ...["text/html", "text/plain", "application/xml", "application/manifest+json"].map(answer.text),
  Type.Unknown({ description: "A page whose path ends in .json" }),
];

/**
 * A preview runs its author's scripts on the account's own host. The sandbox gives them an opaque origin, so they
 * cannot read or use the viewer's session.
 */
const previewHeaders = {
  "content-security-policy": "sandbox allow-scripts allow-forms allow-popups; frame-ancestors 'self'",
  // Browsers refuse a sandboxed page that has such a policy.
  "cross-origin-opener-policy": "unsafe-none",
  "x-robots-tag": "noindex",
  "cache-control": "no-store",
  "referrer-policy": "no-referrer",
};

const description =
  "Served on the account's own host. `?lang=` shows the page as a domain of that locale would. A preview has no " +
  "`canonical_url`, `seo_alternates` and `seo_head`. With the privilege `cms` it also shows what is inactive or not yet " +
  "published. A template that fails answers 500 with the reason.";
const spec = {
  access: {
    open: "it asks for sign-in itself and redirects browsers to it; only drafts need `cms`",
    partly: true as const,
  },
  query: {
    lang: "shows the page as a domain of this locale would",
    page: Type.Integer({ minimum: 1, description: "which part of a paginated list" }),
    "*": "any other parameter is in `params`",
  },
  answers: { 200: sitePage, 404: answer.error, 500: [answer.text("text/html"), answer.error] },
  responses: { 200: "<!doctype html>…", 301: null, 303: null, 401: { error: "sign in" }, 500: "<!doctype html>…" },
};

export function previewRoutes(ctx: CmsContext): Route[] {
  return [
    route("GET", "/w/:site_code", { summary: "Preview a site's home page", description, ...spec }, (input) =>
      preview(ctx, { ...input, code: input.params.site_code }),
    ),
    route("GET", "/w/:site_code/*", { summary: "Preview a page of a site", description, ...spec }, (input) =>
      preview(ctx, { ...input, code: input.params.site_code }),
    ),
  ];
}

interface PreviewInput {
  readonly request: Request;
  readonly code: string;
  readonly query: URLSearchParams;
  readonly caller: { readonly account: { readonly id: number }; readonly privileges: ReadonlySet<string> } | null;
}

async function preview(ctx: CmsContext, { request, code, query, caller }: PreviewInput): Promise<Reply> {
  if (!caller) return signInFirst(request);
  const drafts = caller.privileges.has("cms");
  if (!/^[\w.-]{1,200}$/.test(code)) throw notFound();
  const siteId = await renderStore.siteId(ctx, caller.account.id, code);
  const state = siteId === undefined ? undefined : await ctx.sites.get(siteId);
  if (!state || !(state.site.active || drafts)) throw notFound();
  const asked = askedPath(pathBelow(request.url));
  const lang = langOf(query);
  const view = { state, lang, domainLocale: lang ?? null, preview: true, drafts };
  const found = asked && (await finder.findPage(ctx, view, asked.path));
  if (!asked || !found) throw notFound();
  const link = linksOf({ ...state, scheme: schemeOf(ctx), domain: null });
  if ("redirect" in found || asked.hasSlash) {
    const location = link("redirect" in found ? found.redirect : asked.path, null) + new URL(request.url).search;
    return { status: 301, body: null, headers: { ...previewHeaders, location } };
  }
  try {
    const page = pageNumberOf(query);
    const made = await composer.compose(ctx, { ...view, domain: null, scheme: schemeOf(ctx), query, page }, found);
    return text(200, made.text, typeOf(asked.path), { ...previewHeaders, "content-language": made.locale });
  } catch (error) {
    if (!(error instanceof TemplateFault)) throw error;
    return text(500, faultPage(error), htmlType, previewHeaders);
  }
}

/** Answers 401; redirects a browser to the sign-in page, which leads back. */
function signInFirst(request: Request): Reply {
  if (!(request.headers.get("accept") ?? "").includes("text/html")) throw unauthorized();
  const { pathname, search } = new URL(request.url);
  return redirect(303, `/login?return_to=${encodeURIComponent(pathname + search)}`, previewHeaders);
}

/** `/w/acme/o-nas` -> `/o-nas`, still encoded. */
function pathBelow(url: string): string {
  const { pathname } = new URL(url);
  const slash = pathname.indexOf("/", "/w/".length);
  return slash < 0 ? "/" : pathname.slice(slash);
}

const access = { privilege: "cms" } as const;
const example = {
  url: "/cms/previews/3q2-7w…",
  expires_at: "2026-01-31T10:10:00.000Z",
  domain: "www.acme.example",
  locale: "en",
  address: "https://www.acme.example/offer",
  redirects_to: null,
  seen: {
    title: "Our offer",
    description: null,
    canonical_url: "https://www.acme.example/offer",
    alternates: [{ locale: "en", url: "https://www.acme.example/offer" }],
    robots: null,
    lang: "en",
  },
  canonical_url: "https://www.acme.example/offer",
  alternates: [{ locale: "en", url: "https://www.acme.example/offer" }],
  fault: null,
};

export function draftRoutes(ctx: CmsContext): Route[] {
  return [
    route(
      "POST",
      "/cms/pages/preview",
      {
        summary: "Render a page without saving it",
        description:
          "What is left out comes from the saved page. The result is at `url` for ten minutes, for you alone. Without " +
          "`domain` it is the domain of the page's own address. `lang` shows it as `?lang=` does. `seen` is what the head of " +
          "the result tells search engines, `canonical_url` and `alternates` are what it should tell (null and empty " +
          "without `multilang`). `redirects_to`: this domain shows another page of the same master instead. `fault` " +
          "says which template failed, and where.",
        access,
        body: { key: "page", schema: DraftBody },
        request: { id: "offer-en", site_code: "acme", content: "<h1>{{ title }}</h1>" },
        answers: { 200: DraftPreview },
        responses: { 200: example, 422: { content: ["line 3, column 7: …"] } },
      },
      async ({ caller, body }) => {
        const { token, ...made } = await makePreview(ctx, caller, body);
        return ok({ url: `/cms/previews/${token}`, ...made });
      },
    ),
    route(
      "GET",
      "/cms/previews/:token",
      {
        summary: "A page that was rendered without saving it",
        description: "For ten minutes, for the person who made it. The page runs in a sandbox.",
        access,
        answers: { 200: answer.text("text/html") },
        responses: { 200: "<!doctype html>…", 404: { error: "not found" } },
      },
      async ({ caller, params }) => {
        const html = await previewOf(ctx, caller, params.token);
        if (html === undefined) throw notFound();
        return text(200, html, htmlType, previewHeaders);
      },
    ),
  ];
}
