/**
 * `/cms/…`: the usual five routes for each of eight kinds of records, and the proof that a domain is the account's.
 * behaviour 4.6, B.11.
 */
import { type Route, invalid, notFound, ok, etag, route } from "platform";
import { resourceRoutes } from "./resource-routes.ts";
import type { CmsContext } from "./context.ts";
import { resources } from "./resources.ts";
import { isProved } from "./sites/host.ts";
import { approve } from "./sites/domain.ts";
import { runEdit } from "./edit.ts";
import { find } from "./kind-store.ts";
import { domains } from "./sites/store.ts";
import * as answers from "./answers.ts";
import * as examples from "./examples.ts";

const taken = ["is already taken"];
/** The name defaults to the code, and the code is made from the name. */
const title = ["name", "code"];
const site = ["site_code", "site_id"];

export function cmsRoutes(ctx: CmsContext): Route[] {
  return [
    ...resourceRoutes(ctx, resources.site, {
      about:
        "`locale` defaults to the account's. `multilang` switches on alternates, canonical addresses and redirects.",
      deleting: "Deletes its domains, layouts, pages, paragraphs, categories and articles too.",
      needs: [title],
      request: { code: "acme", name: "Acme", locale: "pl", multilang: true, fields: { company: "Acme" } },
      change: { multilang: true, locale: "pl" },
      shows: answers.Site,
      shownAt: "/w/{code}/",
      example: examples.siteExample,
      refusal: { code: taken },
    }),
    ...resourceRoutes(ctx, resources.domain, {
      about:
        "`name` is a host, with a port only if the site's addresses carry one; it is unique in the whole installation. " +
        "Numeric addresses, names without a dot, every account's host and hosts where people sign in are refused. " +
        "If the installation has several accounts, it is `pending`, and serves nothing, until it is proved " +
        "(`POST /cms/domains/:id/verify`) or the operator approves it. " +
        "The first domain of a site is its primary one, until another one is made the primary.",
      deleting: "Deleting the primary domain promotes the oldest remaining one.",
      needs: [["name"], site],
      request: { name: "www.acme.example", site_code: "acme", locale: "en" },
      change: { locale: "en", primary: true },
      shows: answers.Domain,
      example: examples.domainExample,
      refusal: { name: taken },
    }),
    ...resourceRoutes(ctx, resources.layout, {
      about: "`content` is a Liquid template that prints the page with `{{ content }}`.",
      deleting: "Its pages are left without a layout.",
      needs: [title, site],
      request: pick(examples.layoutExample, ["code", "name", "site_code", "content", "fields"]),
      change: { name: "Main layout" },
      shows: answers.Layout,
      example: examples.layoutExample,
      refusal: { content: ["line 3, column 7: …"] },
    }),
    ...resourceRoutes(ctx, resources.page, {
      about:
        "A path is any string, kept without slashes at its ends and served at its encoded address; empty is the home " +
        "page, one per site. Within a site and path there is one page for each locale and at most one without. A page that is based on another one inherits whatever is empty in it.",
      deleting: "Pages based on it become independent.",
      needs: [title, site],
      request: {
        ...pick(examples.pageExample, ["code", "name", "path", "locale", "site_code", "layout_code", "content"]),
        ...pick(examples.pageExample, ["fields", "html_title"]),
      },
      change: { path: "offer", locale: "en" },
      shows: answers.Page,
      shownAt: "/w/{site_code}/{path}?lang={locale}",
      example: examples.pageExample,
      refusal: { path: taken, based_on_page_code: ["names a page that is itself based on another page"] },
    }),
    ...resourceRoutes(ctx, resources.paragraph, {
      about:
        "It belongs to a page (`page_code`), without that to a whole site (`site_code`), and without either to every site. " +
        "`page_code` is looked up in the given site; without `site_code` it is enough if only one site has such a page. A " +
        "site's own paragraph takes precedence over one of every site.",
      needs: [title],
      request: pick(examples.paragraphExample, ["code", "name", "page_code", "content", "fields", "position"]),
      change: { position: 1 },
      shows: answers.Paragraph,
      example: examples.paragraphExample,
      refusal: { page_code: ["names no page of this site"] },
    }),
    ...resourceRoutes(ctx, resources.category, {
      about: "`path` narrows a list of articles: `<page path>/<category path>` shows only this category.",
      deleting: "Its articles stay, without this category.",
      needs: [title, site],
      request: pick(examples.categoryExample, ["code", "name", "site_code"]),
      change: { path: "company" },
      shows: answers.Category,
      example: examples.categoryExample,
      refusal: { code: taken },
    }),
    ...resourceRoutes(ctx, resources.redirect, {
      about:
        "Visitors of `path` are led to `to` where no page has that path. `to` is a path of the site or an address; the " +
        "query of the request goes along unless `to` has one. `status` defaults to 301. Without `domain` (a name) or `domain_id` it is for every domain " +
        "of the site; one for a domain comes first. Circles are refused. It replaces what a page that has moved left there.",
      needs: [["path"], ["to"], site],
      request: pick(examples.redirectExample, ["path", "to", "site_code"]),
      change: { status: 308 },
      shows: answers.Redirect,
      example: examples.redirectExample,
      refusal: { to: ["leads back to this path, or on and on"] },
    }),
    ...resourceRoutes(ctx, resources.article, {
      about:
        "`category_code` is the main category, the same for all languages; `categories` are the codes of additional ones. " +
        "`path` defaults to the title as a path. `published_at` defaults to now; null = no date.",
      needs: [["title"], site],
      request: {
        ...pick(examples.articleExample, ["code", "site_code", "category_code", "locale", "title", "lead", "content"]),
      },
      change: { category_code: "news", locale: "en" },
      shows: answers.Article,
      example: examples.articleExample,
      refusal: { category_code: ["names no category of this site"] },
    }),
    proofRoute(ctx),
  ];
}

function pick(of: Readonly<Record<string, unknown>>, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.map((name) => [name, of[name]]));
}

const unproved =
  "is not proved: neither the TXT record nor the file was found (see `verification`; a new record may take a while)";

function proofRoute(ctx: CmsContext): Route {
  return route(
    "POST",
    "/cms/domains/:id/verify",
    {
      summary: "Prove that a domain is yours",
      description:
        "If the installation has several accounts, a new domain is `pending` and serves nothing. Publish the TXT record or " +
        "the file that its `verification` names, then call this, and the domain becomes `approved`. A domain that is " +
        "already approved is answered unchanged. The operator can approve without proof: `corestead domain approve`.",
      access: { privilege: "cms" },
      when: { status: ["pending"] },
      answers: { 200: answers.Domain },
      responses: { 200: examples.domainExample, 422: { name: [unproved] } },
    },
    async ({ caller, host, params }) => {
      const { account, user } = caller;
      const ref = resources.domain.refOf(params.id);
      const seen = ref && (await find(domains, ctx.sql, account.id, ref));
      if (!seen) throw notFound();
      // Outside any transaction, because other people's servers may be slow.
      if (seen.status === "pending" && !(await isProved(seen, ctx))) throw invalid({ name: [unproved] });
      const row = await runEdit(ctx, { account, userId: user.id, host }, (edit) => approve(edit, seen));
      return ok(domains.toApi(row), { etag: etag(row.id, row.version) });
    },
  );
}
