/**
 * `/cms/…`: the usual five routes for each of eight kinds of records, and the proof that a domain is the account's.
 * behaviour 4.6, B.11.
 */
import { type Route, invalid, notFound, ok, etag, route } from "platform";
import { kindRoutes } from "./resource-routes.ts";
import type { CmsContext } from "./context.ts";
import { kinds } from "./resources.ts";
import { isProved } from "./sites/host.ts";
import { approve, Domain } from "./sites/domain.ts";
import { runEdit } from "./edit.ts";
import { find } from "./kind-store.ts";

export function cmsRoutes(ctx: CmsContext): Route[] {
  return [
    ...kindRoutes(ctx, kinds.site),
    ...kindRoutes(ctx, kinds.domain),
    ...kindRoutes(ctx, kinds.layout),
    ...kindRoutes(ctx, kinds.page),
    ...kindRoutes(ctx, kinds.paragraph),
    ...kindRoutes(ctx, kinds.category),
    ...kindRoutes(ctx, kinds.redirect),
    ...kindRoutes(ctx, kinds.article),
    proofRoute(ctx),
  ];
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
      answers: { 200: Domain.answer },
      responses: { 200: Domain.examples.one, 422: { name: [unproved] } },
    },
    async ({ caller, host, params }) => {
      const { account, user } = caller;
      const ref = Domain.refOf(params.id);
      const seen = ref && (await find(Domain, ctx.sql, account.id, ref));
      if (!seen) throw notFound();
      // Outside any transaction, because other people's servers may be slow.
      if (seen.status === "pending" && !(await isProved(seen, ctx))) throw invalid({ name: [unproved] });
      const row = await runEdit(ctx, { account, userId: user.id, host }, (edit) => approve(edit, seen));
      return ok(Domain.toApi(row), { etag: etag(row.id, row.version) });
    },
  );
}
