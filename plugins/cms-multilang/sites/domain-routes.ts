/**
 * `POST /cms/domains/:id/verify`: with several accounts, a domain is served only after the account has proved that it
 * owns it.
 */
import { invalid, notFound, ok, etag, route, type Route } from "platform";
import { Domain } from "../answers.ts";
import { isProved } from "./host.ts";
import { domainExample } from "../examples.ts";
import { approve } from "./domain.ts";
import type { CmsContext } from "../context.ts";
import { runEdit } from "../edit.ts";
import { find } from "../kind-store.ts";
import { resources } from "../resources.ts";
import { domains } from "./store.ts";

const unproved =
  "is not proved: neither the TXT record nor the file was found (see `verification`; a new record may take a while)";

export function domainRoutes(ctx: CmsContext): Route[] {
  return [
    route(
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
        answers: { 200: Domain },
        responses: { 200: domainExample, 422: { name: [unproved] } },
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
    ),
  ];
}
