/** Renders a page as an editor has it, for one domain and language, without saving it. No HTTP, no SQL. */
import { field, Type, invalid, mistakes, randomToken, sha256 } from "platform";
import type { Caller, Mistakes, Queryable, Static, Typed } from "platform";
import { localeText } from "../../fields.ts";
import { checkTexts } from "../../input.ts";
import { refOf, siteRefOf, type Ref, cleanPath } from "../../code.ts";
import { isLocale } from "../../locales.ts";
import type { PagePatch, PageRow } from "../../rows.ts";
import { masterIn, Page } from "../../pages/page.ts";
import { named } from "../../edit.ts";
import { compose } from "../compose.ts";
import type { ComposeInput } from "../values/variables.ts";
import { addressOf, domainFor, type Domain, effectiveLocale } from "../addresses/addresses.ts";
import { seoOf } from "../addresses/alternates.ts";
import { choiceOf, type FoundPage, type View } from "../addresses/find.ts";
import { redirectTarget, type Variant } from "../addresses/variant.ts";
import type { PageData } from "../data.ts";
import type { SiteState } from "../door/cache.ts";
import { htmlType, typeOf } from "../door/replies.ts";
import { faultPage, TemplateFault } from "../templates/blocks.ts";
import { asText, nothingSeen, seenIn } from "./seen.ts";
import { schemeOf, type CmsContext } from "../../context.ts";
import { find } from "../../kind-store.ts";
import { Layout } from "../../pages/parts.ts";
import { insertPreview, previewHtml } from "../store.ts";
import * as finder from "../addresses/find.ts";

const Shown = Type.Object({
  id: Type.Union([field.id(), Type.String({ maxLength: 100 })], { description: "id or code of the saved page" }),
  site_code: Type.Optional(field.nullable(Type.String({ maxLength: 100, description: "needed only with a code" }))),
  domain: Type.Optional(field.nullable(Type.String({ maxLength: 300, description: "a domain of the site" }))),
  lang: Type.Optional(localeText()),
});

const typed = [
  "name",
  "path",
  "locale",
  "layout_id",
  "layout_code",
  "content",
  "fields",
  "html_title",
  "html_description",
  "html_keywords",
  "based_on_page_id",
  "based_on_page_code",
] as const;

type Body = Static<typeof Shown> & Pick<PagePatch, (typeof typed)[number]>;

const { properties } = Page.bodies.change;
export const DraftBody = Type.Object({
  ...Shown.properties,
  ...Object.fromEntries(Object.entries(properties).filter(([name]) => typed.some((one) => one === name))),
}) as Typed<Body>; // made of the same fields

const livesMs = 10 * 60_000;
const mostPerPerson = 10;

export async function makePreview(ctx: CmsContext, { account, user }: Pick<Caller, "account" | "user">, body: Body) {
  const saved = await savedPage(ctx.sql, account.id, body);
  const state = saved && (await ctx.sites.get(saved.siteId));
  if (!saved || !state) throw invalid({ id: ["names no page"] });
  const wrong = mistakes();
  const domain = domainOf(wrong, state, body, saved);
  checkTexts(wrong, ctx.engine, body);
  const page = await draftOf({ ctx, wrong, accountId: account.id }, saved, body);
  wrong.check();
  const lang = isLocale(body.lang) ? body.lang : undefined;
  const preview = domain === null;
  const domainLocale = domain ? domain.locale : (lang ?? null);
  const view: View = { state, lang, domainLocale, preview, drafts: true };
  const found = withDraft(await finder.completePage(ctx, view, page));
  const { html, seen, fault } = await rendered(ctx, { ...view, domain, scheme: schemeOf(ctx) }, found);
  const token = randomToken();
  const expiresAt = new Date(Date.now() + livesMs);
  const row = { accountId: account.id, userId: user.id, tokenHash: sha256(token), html, expiresAt };
  await ctx.transaction((tx) => insertPreview(tx, row, mostPerPerson));
  const { site, domains } = state;
  const sources = { page: page.locale, lang, domain: domainLocale, site: site.locale };
  const place = { scheme: schemeOf(ctx), domains, site: site.locale };
  const seo = site.multilang && domain ? seoOf<Variant>(found.page, found.group, place) : undefined;
  const target = domain ? redirectTarget<Variant>(found.page, found.group, choiceOf(view)) : undefined;
  return {
    token,
    expires_at: expiresAt,
    domain: domain?.name ?? null,
    locale: effectiveLocale(sources),
    address: domain ? addressOf(schemeOf(ctx), domain, page.path) : null,
    redirects_to: target && domain ? addressOf(schemeOf(ctx), domain, target.path) : null,
    seen,
    canonical_url: seo?.canonicalUrl ?? null,
    alternates: seo?.alternates ?? [],
    fault,
  };
}

/** Undefined if it has expired, or is somebody else's. */
export async function previewOf(
  ctx: CmsContext,
  { account, user }: Pick<Caller, "account" | "user">,
  token: string,
): Promise<string | undefined> {
  return token.length > 100 ? undefined : previewHtml(ctx.sql, account.id, user.id, sha256(token));
}

async function savedPage(db: Queryable, accountId: number, body: Body) {
  const ref = refOf(String(body.id), siteRefOf(body.site_code));
  return ref && find(Page, db, accountId, ref);
}

/** The one that is named, else that of the page's own address; null if the site has none. */
function domainOf(wrong: Mistakes, { domains }: SiteState, { domain, locale }: Body, saved: PageRow): Domain | null {
  if (!domain) return domainFor(domains, locale === undefined ? saved.locale : locale || null) ?? null;
  const found = domains.find(({ name }) => name === domain);
  if (!found) wrong.add("domain", "names no domain of this site");
  return found ?? null;
}

interface Drafting {
  readonly ctx: Pick<CmsContext, "sql" | "secrets">;
  readonly wrong: Mistakes;
  readonly accountId: number;
}

/** The saved page with what was typed over it, and with its master's values. */
async function draftOf({ ctx, wrong, accountId }: Drafting, saved: PageRow, body: Body): Promise<PageData> {
  const { siteId } = saved;
  const { layout_code: code, layout_id: id } = body;
  const given = { as: "layout", what: "layout", code, id, siteId };
  const layout = await named(wrong, given, (ref) => find(Layout, ctx.sql, accountId, ref));
  const clean = body.path === undefined ? { path: saved.path } : cleanPath(body.path);
  if ("mistake" in clean) wrong.add("path", clean.mistake);
  const path = "path" in clean ? clean.path : saved.path;
  const lookMaster = (ref: Ref) => find(Page, ctx.sql, accountId, ref);
  const master = await masterIn(wrong, { ...saved, path }, [], body, lookMaster);
  const after = Page.over(ctx, body, saved);
  return {
    ...after,
    path,
    name: body.name ?? saved.name,
    locale: after.locale || null,
    layoutId: layout === undefined ? saved.layoutId : (layout?.id ?? null),
    basedOnPageId: master?.id ?? null,
    master: master ?? null,
  };
}

/** Among its languages the page stands as it is typed, not as it is saved. */
function withDraft(found: FoundPage): FoundPage {
  const { id, path, locale, basedOnPageId } = found.page;
  const own = { id, path, locale, basedOnPageId };
  return { ...found, group: found.group.map((other) => (other.id === id ? own : other)) };
}

type ComposeView = Omit<ComposeInput, "query" | "page">;

async function rendered(ctx: CmsContext, view: ComposeView, found: FoundPage) {
  try {
    const { text } = await compose(ctx, { ...view, query: new URLSearchParams(), page: 1 }, found);
    if (typeOf(found.page.path) !== htmlType) return { html: asText(text), seen: nothingSeen, fault: null };
    const { seen, framed } = seenIn(text);
    return { html: framed, seen, fault: null };
  } catch (error) {
    if (!(error instanceof TemplateFault)) throw error;
    return { html: faultPage(error), seen: nothingSeen, fault: error.message };
  }
}
