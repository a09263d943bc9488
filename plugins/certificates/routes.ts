import {
  answer,
  pageReply,
  notFound,
  ok,
  pageOf,
  pageQuery,
  route,
  type Route,
  type Static,
  field,
  Type,
} from "platform";
import type { CertificateRow } from "./store.ts";
import type { CertificatesContext } from "./context.ts";
import * as certificateStore from "./store.ts";
import * as orders from "./orders.ts";

const certificateStates = ["valid", "waiting", "failed", "expired"] as const;

const Certificate = answer.object("Certificate", {
  host: Type.String(),
  state: field.oneOf(certificateStates),
  not_before: field.nullable(answer.time()),
  expires_at: field.nullable(answer.time()),
  renew_at: field.nullable(answer.time()),
  failures: Type.Integer(),
  last_error: field.nullable(Type.String()),
  try_at: field.nullable(answer.time()),
  ordered_at: field.nullable(answer.time()),
});

const access = { privilege: "certificates" } as const;
const example = {
  host: "www.example.com",
  state: "valid" as const,
  not_before: "2026-01-31T10:00:00.000Z",
  expires_at: "2026-05-01T10:00:00.000Z",
  renew_at: "2026-03-30T22:14:07.000Z",
  failures: 0,
  last_error: null,
  try_at: null,
  ordered_at: "2026-01-31T10:00:00.000Z",
};
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
        answers: { 200: answer.list(Certificate) },
        responses: { 200: [example] },
      },
      async ({ account, query }) => {
        return pageReply(await certificateStore.list(ctx.sql, account.id, pageOf(query)), toApi);
      },
    ),
    route(
      "GET",
      "/core/certificates/:host",
      { summary: "One certificate", access, answers: { 200: Certificate }, responses: { 200: example } },
      async ({ account, params }) => {
        const row = await certificateStore.ofAccount(ctx.sql, account.id, params.host.toLowerCase());
        if (!row) throw notFound(notHere);
        return ok(toApi(row));
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
        answers: { 202: Certificate },
        responses: {
          202: { ...example, state: "waiting" as const, not_before: null, expires_at: null, renew_at: null },
        },
      },
      async ({ account, params }) => {
        const host = params.host.toLowerCase();
        if (!(await certificateStore.askAgain(ctx.sql, account.id, host))) throw notFound(notHere);
        await orders.enqueueOrder(ctx, host);
        const row = await certificateStore.ofAccount(ctx.sql, account.id, host);
        if (!row) throw notFound(notHere);
        return { ...ok(toApi(row)), status: 202 };
      },
    ),
  ];
}

function toApi(row: CertificateRow): Static<typeof Certificate> {
  return {
    host: row.host,
    state: stateOf(row),
    not_before: row.notBefore,
    expires_at: row.expiresAt,
    renew_at: row.renewAt,
    failures: row.failures,
    last_error: row.lastError,
    try_at: row.lastError === null ? null : row.tryAt,
    ordered_at: row.orderedAt,
  };
}

function stateOf({ expiresAt, failures }: CertificateRow): (typeof certificateStates)[number] {
  if (failures > 0) return "failed";
  if (expiresAt === null) return "waiting";
  return expiresAt > new Date() ? "valid" : "expired";
}
