/** The service of api.ts: the routes' resources without HTTP. */
import { checkerOf, invalid, notFound, pageOf, type Sql, type TObject } from "platform";
import type { Cms, CmsKind, CmsRecord, CmsWrites } from "./api.ts";
import { whichever, type Change, type RunChange } from "./change.ts";
import type { Kept, Resource } from "./resource.ts";
import type { Resources } from "./resources.ts";

interface Needed {
  readonly sql: Sql;
  readonly run: RunChange;
  readonly resources: Resources;
}

/** One kind's calls, without its types. */
interface Calls {
  find(refText: string, change?: Change, accountId?: number): Promise<CmsRecord | undefined>;
  create(change: Change, body: unknown): Promise<CmsRecord>;
  update(change: Change, refText: string, body: unknown): Promise<CmsRecord>;
  remove(change: Change, refText: string): Promise<void>;
  list(accountId: number, query: URLSearchParams): Promise<{ records: CmsRecord[]; total: number }>;
}

export function createCms({ sql, run, resources }: Needed): Omit<Cms, "pushFiles"> {
  const calls: Record<CmsKind, Calls> = {
    site: callsOf(sql, resources.site),
    domain: callsOf(sql, resources.domain),
    layout: callsOf(sql, resources.layout),
    category: callsOf(sql, resources.category),
    page: callsOf(sql, resources.page),
    paragraph: callsOf(sql, resources.paragraph),
    article: callsOf(sql, resources.article),
  };

  const writesOf = (change: Change): CmsWrites => ({
    tx: change.tx,
    create: (kind, body) => calls[kind].create(change, body),
    update: (kind, ref, body) => calls[kind].update(change, ref, body),
    remove: (kind, ref) => calls[kind].remove(change, ref),
    find: (kind, ref) => calls[kind].find(ref, change),
    put: async (kind, body) => {
      const key = kind === "domain" ? "name" : "code";
      const ref: unknown = Object(body)[key];
      if (typeof ref !== "string") throw invalid({ [key]: ["is required"] });
      const known = await calls[kind].find(ref, change);
      if (!known) return { record: await calls[kind].create(change, body), made: true };
      return { record: await calls[kind].update(change, `${known.id}`, body), made: false };
    },
  });

  return {
    change: (author, work) => run(author, (change) => work(writesOf(change))),
    find: (accountId, kind, ref) => calls[kind].find(ref, undefined, accountId),
    list: (accountId, kind, query) => calls[kind].list(accountId, query),
  };
}

function callsOf<Body extends TObject, Row extends Kept>(sql: Sql, resource: Resource<Body, Row>): Calls {
  const check = checkerOf(resource.body);
  const shown = (row: Row): CmsRecord => ({ id: row.id, ...resource.toApi(row) });
  const refOf = (text: string) => {
    const ref = resource.refOf(text);
    if (!ref) throw notFound();
    return ref;
  };
  return {
    find: async (text, change, accountId = change?.account.id) => {
      const ref = resource.refOf(text);
      if (!ref || accountId === undefined) return undefined;
      const row = await resource.find(change?.tx ?? sql, accountId, ref);
      return row && shown(row);
    },
    create: async (change, body) => shown(await resource.writer.create(change, check(body))),
    update: async (change, text, body) =>
      shown(await resource.writer.update(change, refOf(text), check(body), whichever)),
    remove: (change, text) => resource.writer.remove(change, refOf(text), whichever),
    list: async (accountId, query) => {
      const { rows, total } = await resource.list(accountId, query, pageOf(query));
      return { records: rows.map(shown), total };
    },
  };
}
