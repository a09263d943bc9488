import { answer, pageReply, notFound, ok, pageOf, pageQuery, route, toApi, type Route } from "platform";
import { Certificate } from "./store.ts";
import type { CertificatesContext } from "./context.ts";
import * as certificateStore from "./store.ts";
import * as orders from "./orders.ts";

const access = { privilege: "certificates" } as const;
const { answer: Shown, example } = Certificate;
const notHere = "this account serves no such host";

/** The certificates of an account's hosts: its own and its sites' domains. Their keys are never shown. */
export function certificateRoutes(ctx: CertificatesContext): Route[] {
  return [
    route(
      "GET",
      "/core/certificates",
      {
        summary: "List certificates",
        description:
          "One for each host of the account and of its sites. `waiting`: none was issued yet. `failed`: the last order " +
          "failed (`last_error`), and the next one is at `try_at`; an older certificate stays in use until it expires.",
        access,
        query: pageQuery,
        answers: { 200: answer.list(Shown) },
        responses: { 200: [example] },
      },
      async ({ account, query }) => {
        return pageReply(await certificateStore.list(ctx.sql, account.id, pageOf(query)), (row) =>
          toApi(Certificate, row),
        );
      },
    ),
    route(
      "GET",
      "/core/certificates/:host",
      { summary: "One certificate", access, answers: { 200: Shown }, responses: { 200: example } },
      async ({ account, params }) => {
        const row = await certificateStore.ofAccount(ctx.sql, account.id, params.host.toLowerCase());
        if (!row) throw notFound(notHere);
        return ok(toApi(Certificate, row));
      },
    ),
    route(
      "POST",
      "/core/certificates/:host/order",
      {
        summary: "Order a certificate now",
        description:
          "Instead of waiting for `try_at` or `renew_at`, for example when a DNS record has been corrected. It is " +
          "ordered in the background, within the authority's limits. One that was issued less than a minute ago is kept.",
        access,
        answers: { 202: Shown },
        responses: {
          202: { ...example, state: "waiting", not_before: null, expires_at: null, renew_at: null },
        },
      },
      async ({ account, params }) => {
        const host = params.host.toLowerCase();
        if (!(await certificateStore.askAgain(ctx.sql, account.id, host))) throw notFound(notHere);
        await orders.enqueueOrder(ctx, host);
        const row = await certificateStore.ofAccount(ctx.sql, account.id, host);
        if (!row) throw notFound(notHere);
        return { ...ok(toApi(Certificate, row)), status: 202 };
      },
    ),
  ];
}
