import {
  answer,
  found,
  integerId,
  pageReply,
  noContent,
  ok,
  pageOf,
  pageQuery,
  refOf,
  resourceRoutes,
  route,
} from "platform";
import { field, invalid, notFound, Type, uuidOf, type Caller, type Route, type Static } from "platform";
import type { OidcContext } from "./context.ts";
import { PeerFault } from "./peer.ts";
import { peerFacts } from "./places.ts";
import { mustBeAdmin, Provider } from "./provider.ts";
import { identitiesOf, removeIdentity, type IdentityRow } from "./store.ts";

const nullable = field.nullable(Type.String());

const SignInIdentity = answer.object("SignInIdentity", {
  id: Type.Integer(),
  user_id: Type.Integer(),
  login: Type.String(),
  name: Type.String(),
  issuer: Type.String(),
  subject: Type.String(),
  email: Type.String(),
  last_used_at: answer.time(),
  created_at: answer.time(),
});

const ProviderTest = answer.object("SignInProviderTest", {
  issuer: Type.String(),
  authorization_endpoint: Type.String(),
  token_endpoint: Type.String(),
  userinfo_endpoint: nullable,
  end_session_endpoint: nullable,
  backchannel_logout_supported: Type.Boolean(),
  keys: Type.Integer({ description: "how many keys the provider signs with" }),
  warnings: answer.list(Type.String()),
});

const access = { privilege: "sign_in_providers" } as const;

const identityExample = {
  id: 5,
  user_id: 12,
  login: "anna@example.com",
  name: "Anna Nowak",
  issuer: "https://login.example.com",
  subject: "248289761001",
  email: "anna@example.com",
  last_used_at: "2026-01-31T10:00:00.000Z",
  created_at: "2026-01-31T10:00:00.000Z",
};
const onlyAdmins = { error: "only administrators change how people sign in" };

/** `/account/sign_in_providers`: by what people of the account may sign in besides a password. behaviour B.17. */
export function providerRoutes(ctx: OidcContext): Route[] {
  return Object.values(resourceRoutes(Provider, ctx));
}

export function providerPartRoutes(ctx: OidcContext): Route[] {
  return [
    route(
      "POST",
      "/account/sign_in_providers/:id/test",
      {
        summary: "Ask a provider what it offers",
        description: "Reads its discovery document and its keys anew, as a sign-in does.",
        access,
        answers: { 200: ProviderTest },
        responses: {
          200: {
            issuer: "https://login.example.com",
            authorization_endpoint: "https://login.example.com/authorize",
            token_endpoint: "https://login.example.com/token",
            userinfo_endpoint: "https://login.example.com/userinfo",
            end_session_endpoint: "https://login.example.com/logout",
            backchannel_logout_supported: true,
            keys: 2,
            warnings: [],
          },
          422: { issuer: ["does not answer: connection refused"] },
        },
      },
      async ({ caller, params }) => ok(await testProvider(ctx, caller, uuidOf(params.id))),
    ),
    route(
      "GET",
      "/account/sign_in_providers/:id/identities",
      {
        summary: "List who signs in by a provider",
        access,
        query: pageQuery,
        answers: { 200: answer.list(SignInIdentity) },
        responses: { 200: [identityExample] },
      },
      async ({ caller, params, query }) => {
        const { id: providerId } = await found(Provider, { ...ctx, caller }, refOf(Provider, params.id));
        const page = await identitiesOf(ctx.sql, { accountId: caller.account.id, providerId }, pageOf(query));
        return pageReply(page, identityToApi);
      },
    ),
    route(
      "DELETE",
      "/account/sign_in_providers/:id/identities/:identity_id",
      {
        summary: "End somebody's link to a provider",
        description: "Their sessions go on. By the provider's rules they may be linked again.",
        access,
        responses: { 204: null, 403: onlyAdmins },
      },
      async ({ caller, params }) => {
        await unlink(ctx, caller, uuidOf(params.id), integerId(params.identity_id));
        return noContent();
      },
    ),
  ];
}

function identityToApi(row: IdentityRow): Static<typeof SignInIdentity> {
  return {
    id: row.id,
    user_id: row.userId,
    login: row.login,
    name: row.name,
    issuer: row.issuer,
    subject: row.subject,
    email: row.email,
    last_used_at: row.lastUsedAt,
    created_at: row.createdAt,
  };
}

/** Throws a 422 that says what is wrong. */
async function testProvider(ctx: OidcContext, caller: Caller, id: string) {
  const row = await found(Provider, { ...ctx, caller }, { id });
  try {
    return await ctx.oidc.test(peerFacts(ctx, row), row.scopes.split(" "));
  } catch (error) {
    if (!(error instanceof PeerFault)) throw error;
    const start = error.kind === "unreachable" ? "does not answer" : "does not answer as a provider does";
    throw invalid({ issuer: [`${start}: ${error.message}`] });
  }
}

async function unlink(ctx: OidcContext, caller: Caller, id: string, identityId: number): Promise<void> {
  mustBeAdmin({ caller });
  const { id: providerId } = await found(Provider, { ...ctx, caller }, { id });
  const place = { accountId: caller.account.id, providerId };
  const deleted = await ctx.transaction((tx) => removeIdentity(tx, place, identityId));
  if (!deleted) throw notFound();
}
