/** The service of api.ts: the resources of the routes, without HTTP. */
import { checkerOf, invalid, mistakes, notFound, pageOf, type Queryable, type Sql } from "platform";
import type { Cms, CmsKind, CmsRecord, CmsWrites } from "./api.ts";
import { runEdit, type SiteEdit } from "./edit.ts";
import { siteRefOf, type SiteRef } from "./code.ts";
import { allRows } from "./lists.ts";
import { checkTokens } from "./input.ts";
import type { CmsContext } from "./context.ts";
import { printDifference } from "./files/diff.ts";
import { push } from "./files/push.ts";
import { readTree } from "./files/tree.ts";
import { remove, update, type Kind } from "./kind.ts";
import { find, list } from "./kind-store.ts";
import { kinds } from "./resources.ts";

/** The calls of one kind, without its types. */
interface Calls {
  find(db: Queryable, accountId: number, ref: string, site?: SiteRef): Promise<CmsRecord | undefined>;
  create(edit: SiteEdit, body: unknown): Promise<CmsRecord>;
  update(edit: SiteEdit, ref: string, body: unknown, site?: SiteRef): Promise<CmsRecord>;
  remove(edit: SiteEdit, ref: string, site?: SiteRef): Promise<void>;
  list(sql: Sql, accountId: number, query: URLSearchParams): Promise<{ records: CmsRecord[]; total: number }>;
}

/** What other plugins may do with sites. */
export function cmsService(ctx: CmsContext): Cms {
  const { sites } = ctx;
  return {
    change: (author, work) => runEdit(ctx, author, (edit) => work(writesOf(edit))),
    find: (accountId, kind, ref, site) => calls[kind].find(ctx.sql, accountId, ref, siteRefOf(site)),
    list: (accountId, kind, query) => calls[kind].list(ctx.sql, accountId, query),
    pushFiles: async (author, site, files) =>
      printDifference(await push(ctx, readTree(files), { author, site, deletes: false, dryRun: false }), false),
    hosts: () => [...sites.hosts()].map(([name, { account }]) => ({ host: bare(name), accountId: account.id })),
    hostOwner: (host) => sites.find(host)?.account.id,
  };
}

/** "example.com:8080" -> "example.com" */
export const bare = (host: string) => host.replace(/:\d{1,5}$/, "");

const calls: Record<CmsKind, Calls> = {
  site: callsOf(kinds.site),
  domain: callsOf(kinds.domain),
  layout: callsOf(kinds.layout),
  category: callsOf(kinds.category),
  page: callsOf(kinds.page),
  paragraph: callsOf(kinds.paragraph),
  article: callsOf(kinds.article),
};

function writesOf(edit: SiteEdit): CmsWrites {
  const { tx, account } = edit;
  const findOne: CmsWrites["find"] = (kind, ref, site) => calls[kind].find(tx, account.id, ref, siteRefOf(site));
  return {
    tx,
    find: findOne,
    create: (kind, body) => calls[kind].create(edit, body),
    update: (kind, ref, body, site) => calls[kind].update(edit, ref, body, siteRefOf(site)),
    remove: (kind, ref, site) => calls[kind].remove(edit, ref, siteRefOf(site)),
    put: async (kind, body) => {
      const key = kind === "domain" ? "name" : "code";
      const { [key]: ref } = valuesOf(body);
      if (typeof ref !== "string") throw invalid({ [key]: ["is required"] });
      const place = await placeOf(kind, valuesOf(body), findOne);
      const known = await findOne(kind, ref, place);
      if (!known) return { record: await calls[kind].create(edit, body), made: true };
      return { record: await calls[kind].update(edit, `${known.id}`, body), made: false };
    },
  };
}

/** The site that a body belongs to. A paragraph that names none belongs to its page's site, else to none. */
async function placeOf(kind: CmsKind, body: Values, findOne: CmsWrites["find"]): Promise<string | undefined> {
  const { site_code: site, page_code: page } = body;
  if (typeof site === "string" && site !== "") return site;
  if (kind !== "paragraph") return undefined;
  if (typeof page !== "string" || page === "") return "none";
  const code = (await findOne("page", page))?.["site_code"];
  return typeof code === "string" ? code : undefined;
}

type Values = Readonly<Record<string, unknown>>;

/** Typed loosely, because the kind's own schema checks the fields later. */
function valuesOf(body: unknown): Values {
  return Object(body) as Values;
}

function callsOf<Row extends { readonly id: number }, New, Patch>(kind: Kind<Row, New, Patch>): Calls {
  const [fits, fitsChange] = [checkerOf(kind.bodies.create), checkerOf(kind.bodies.change)];
  const safe = <Body extends object>(body: Body) => {
    const wrong = mistakes();
    checkTokens(wrong, body);
    wrong.check();
    return body;
  };
  const shown = (row: Row): CmsRecord => ({ id: row.id, ...kind.toApi(row) });
  const refOf = (text: string, site: SiteRef | undefined) => {
    const ref = kind.refOf(text, site);
    if (!ref) throw notFound();
    return ref;
  };
  return {
    find: async (db, accountId, text, site) => {
      const ref = kind.refOf(text, site);
      const row = ref && (await find(kind, db, accountId, ref));
      return row && shown(row);
    },
    create: async (edit, body) => shown(await kind.create(edit, safe(fits(body)))),
    update: async (edit, text, body, site) =>
      shown(await update(edit, kind, refOf(text, site), safe(fitsChange(body)))),
    remove: (edit, text, site) => remove(edit, kind, refOf(text, site)),
    list: async (sql, accountId, query) => {
      const listed = await list(kind, sql, accountId, query, pageOf(query));
      return { records: (await allRows(listed)).map(shown), total: listed.total };
    },
  };
}
