/**
 * `POST /cms/sites/:id/plan` and `/migrate`: drafts the migration of a site to several languages (behaviour A.8), tries it
 * out, and carries it out.
 */
import { answer, credentialOf, field, invalid, mistakes, ok, route, Type, unavailable } from "platform";
import type { Caller, Route } from "platform";
import { locales } from "../locales.ts";
import { checkTokens } from "../input.ts";
import { treeOf } from "./commands.ts";
import type { Difference } from "./diff.ts";
import { siteRecords } from "./store.ts";
import { migrated } from "./migrate.ts";
import { FileMistakes, push } from "./push.ts";
import { PlanBody, PlanMistake, planFromRecords, planFromSitemaps } from "./plan.ts";
import type { SiteRecord } from "./kinds.ts";
import type { Value } from "./yaml.ts";
import type { CmsContext } from "../context.ts";
import { siteAt } from "../sites/site.ts";
import type { SiteRow } from "../rows.ts";

const access = { privilege: "cms" } as const;

const PlannedPage = answer.object("PlannedPage", {
  code: Type.String(),
  path: Type.String(),
  locale: field.oneOf(locales),
  keep_content: Type.Optional(Type.Boolean()),
});
const PlannedGroup = answer.object("PlannedGroup", {
  master: Type.String(),
  path: Type.Optional(Type.String()),
  locale: Type.Optional(field.oneOf(locales)),
  slaves: answer.list(PlannedPage),
});
const PlannedDomain = answer.object("PlannedDomain", {
  name: Type.String(),
  locale: Type.Optional(field.nullable(field.oneOf(locales))),
  primary: Type.Optional(Type.Boolean()),
});
const MigrationPlan = answer.object("MigrationPlan", {
  locale: field.oneOf(locales),
  domains: answer.list(PlannedDomain),
  variables: Type.Unknown({ description: "all, or a list of names" }),
  groups: answer.list(PlannedGroup),
  notes: answer.list(Type.String()),
});
const anything = Type.Unknown({ description: "the value of this field, as in its record" });
const MigratedField = answer.object("MigratedField", {
  name: Type.String(),
  before: anything,
  after: anything,
});
const MigratedRecord = answer.object("MigratedRecord", {
  change: field.oneOf(["create", "update"]),
  kind: Type.String(),
  code: Type.String(),
  fields: answer.list(MigratedField),
});
const SiteMigration = answer.object("SiteMigration", {
  dry_run: Type.Boolean(),
  created: Type.Integer(),
  updated: Type.Integer(),
  notes: answer.list(Type.String()),
  changes: answer.list(MigratedRecord),
});

const examplePlan = {
  locale: "pl",
  domains: [{ name: "www.acme.example", locale: "pl", primary: true }],
  variables: "all",
  groups: [{ master: "about", locale: "pl", slaves: [{ code: "about-en", path: "about", locale: "en" }] }],
} as const;
const exampleMigration = {
  dry_run: true,
  created: 0,
  updated: 1,
  notes: ['pages/about-en.liquid: its own content (23 characters) is removed; "keep_content" keeps it'],
  changes: [
    {
      change: "update",
      kind: "page",
      code: "about-en",
      fields: [{ name: "based_on_page_code", before: null, after: "about" }],
    },
  ],
} as const;

/** Each holds all records of a site in memory, so they run one after the other. */
const maxWaiting = 20;

export function migrateRoutes(ctx: CmsContext): Route[] {
  let waiting = 0;
  let last: Promise<unknown> = Promise.resolve();
  const oneAtATime = <T>(run: () => Promise<T>): Promise<T> => {
    if (waiting >= maxWaiting) throw unavailable("other sites are being migrated, try again");
    waiting++;
    const mine = last.then(run).finally(() => waiting--);
    last = mine.catch(() => {});
    return mine;
  };
  return [
    route(
      "POST",
      "/cms/sites/:id/plan",
      {
        summary: "Draft the migration of a site to several languages",
        description:
          "From the hreflang of old sitemaps (the text of each file), or without any from the codes and paths of the site's " +
          "own pages (`about-en` is taken for the English page of `about`). Changes nothing. `notes` are for a person; " +
          "the rest is a body for `migrate`.",
        access,
        body: { key: "plan", schema: PlanRequest },
        request: { sitemaps: [] },
        answers: { 200: MigrationPlan },
        responses: { 200: { ...examplePlan, notes: [] } },
      },
      async ({ caller, params, body }) => {
        const { accountId, id } = await siteAt(ctx, caller.account.id, params.id);
        const { sitemaps = [] } = body;
        return oneAtATime(async () => {
          const records = await siteRecords(ctx.sql, accountId, id);
          return ok({ ...(sitemaps.length > 0 ? planFromSitemaps(sitemaps, records) : planFromRecords(records)) });
        });
      },
    ),
    route(
      "POST",
      "/cms/sites/:id/migrate",
      {
        summary: "Migrate a site to several languages",
        description:
          "Carries out a plan (behaviour A.8): variables with a language at their end become fields by language, pages of " +
          "other languages become slaves, the site and its domains get their languages, layouts their head. In one " +
          "transaction; a second run changes nothing. With `dry_run` it is rolled back, so that the answer says what would " +
          "change: at most 1,000 records and 4 MB of texts, `created` and `updated` count all.",
        access,
        body: { key: "migration", schema: MigrationBody },
        request: { locale: "pl", domains: examplePlan.domains, dry_run: true },
        answers: { 200: SiteMigration },
        responses: { 200: exampleMigration, 422: { groups: ["there is no page about"] } },
      },
      async ({ request, caller, host, params, body }) => {
        const wrong = mistakes();
        checkTokens(wrong, body, credentialOf(request.headers)?.token);
        wrong.check();
        const site = await siteAt(ctx, caller.account.id, params.id);
        return ok(await oneAtATime(() => carriedOut(ctx, { caller, host, site, body })));
      },
    ),
  ];
}

const PlanRequest = Type.Object({
  sitemaps: Type.Optional(Type.Array(Type.String({ maxLength: 9_000_000 }), { maxItems: 100 })),
});
const MigrationBody = Type.Object({ ...PlanBody.properties, dry_run: Type.Optional(field.flag()) });

interface Asked {
  readonly caller: Caller;
  readonly host: string;
  readonly site: SiteRow;
  readonly body: typeof MigrationBody.static;
}

async function carriedOut(ctx: CmsContext, { caller, host, site, body }: Asked) {
  const { dry_run: dryRun = false, ...plan } = body;
  const author = { account: caller.account, userId: caller.user.id, host };
  let notes: readonly string[] = [];
  const wanted = (now: readonly SiteRecord[]) => {
    const result = migrated(now, plan);
    ({ notes } = result);
    return treeOf(result.records);
  };
  try {
    const found = await push(ctx, wanted, { author, site: site.code, dryRun, deletes: false });
    return { dry_run: dryRun, created: found.create.length, updated: found.update.length, notes, changes: told(found) };
  } catch (error) {
    if (error instanceof PlanMistake) throw invalid({ base: [error.message.replace("the plan: ", "")] });
    if (!(error instanceof FileMistakes)) throw error;
    const lines = error.mistakes.slice(0, 50).map(({ file, message }) => `${file}: ${message}`);
    throw invalid({ base: lines });
  }
}

const maxRecords = 1000;
const maxChars = 4_000_000;

function told({ create, update }: Difference) {
  const all = [
    ...create.map((record) => ({ change: "create" as const, record, fields: Object.entries(record.values).map(news) })),
    ...update.map(({ before, after, changes }) => ({
      change: "update" as const,
      record: after,
      fields: Object.entries(changes).map(([name, value]) => ({
        name,
        before: before.values[name] ?? null,
        after: value,
      })),
    })),
  ];
  let chars = 0;
  const listed = all.slice(0, maxRecords).map(({ change, record, fields }) => {
    return { change, kind: record.kind, code: record.code, fields };
  });
  return listed.filter((one) => (chars += JSON.stringify(one).length) <= maxChars);
}

function news([name, after]: [string, Value]) {
  return { name, before: null, after };
}
