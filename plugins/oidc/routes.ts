import {
  answer,
  created,
  etag,
  expectedVersion,
  field,
  integerId,
  pageReply,
  noContent,
  ok,
  pageOf,
  pageQuery,
  roles,
  route,
  Type,
  uuidOf,
} from "platform";
import type { Account, Role, Route, Static } from "platform";
import { ProviderTest, SignInIdentity, SignInProvider } from "./answers.ts";
import type { IdentityRow, IdentityStore } from "./identity-store.ts";
import type { Providers } from "./providers.ts";
import type { ProviderRow, ProviderStore } from "./provider-store.ts";
import { redirectUriOf } from "./sign-in.ts";
import { backchannelUriOf, signedOutUriOf } from "./sign-out.ts";

const access = { privilege: "sign_in_providers" } as const;

const maxSecretChars = 10_000;
const mapping = <S extends Parameters<typeof Type.Record>[1]>(of: S, description: string) =>
  Type.Record(Type.String({ minLength: 1, maxLength: 255 }), of, { maxProperties: 100, description });

const Input = Type.Object({
  name: field.name(100),
  code: Type.Optional(field.nullable(Type.Union([field.code(), Type.Literal("")]))),
  label: Type.Optional(field.line(100)),
  active: Type.Optional(field.flag()),
  issuer: field.name(500),
  client_id: field.name(500),
  client_secret: Type.Optional(field.nullable(Type.String({ maxLength: maxSecretChars, description: "never shown" }))),
  scopes: Type.Optional(field.line(1000)),
  create_people: Type.Optional(field.flag()),
  email_domains: Type.Optional(field.nullable(field.names())),
  link_by_email: Type.Optional(field.flag()),
  verified_claim: Type.Optional(field.line()),
  trust_second_factor: Type.Optional(field.flag()),
  sign_out_there: Type.Optional(field.flag()),
  default_role: Type.Optional(field.nullable(field.oneOf(roles))),
  role_claim: Type.Optional(field.line()),
  roles: Type.Optional(
    field.nullable(Type.Unsafe<Record<string, Role>>(mapping(field.oneOf(roles), "{ value of the claim: role }"))),
  ),
  team_claim: Type.Optional(field.line()),
  teams: Type.Optional(
    field.nullable(Type.Unsafe<Record<string, number>>(mapping(field.id(), "{ value of the claim: id of a team }"))),
  ),
});

const requestExample = {
  name: "Example ID",
  code: "example-id",
  issuer: "https://login.example.com",
  client_id: "corestead",
  client_secret: "0a1b2c3d4e5f6a7b8c9d",
  create_people: true,
  email_domains: ["example.com"],
  role_claim: "groups",
  roles: { "core-admins": "admin" },
} as const;
const { client_secret: _, ...given } = requestExample;
const example = {
  id: "0198c5d2-7a1b-7c3d-8e4f-5a6b7c8d9e30",
  ...given,
  label: null,
  active: true,
  has_client_secret: true,
  scopes: "openid email profile",
  redirect_uri: "https://core.example.com/login/with/example-id/callback",
  post_logout_redirect_uri: "https://core.example.com/login/with/example-id/signed_out",
  backchannel_logout_uri: "https://core.example.com/login/with/example-id/backchannel_logout",
  link_by_email: false,
  verified_claim: "email_verified",
  trust_second_factor: false,
  sign_out_there: false,
  default_role: "user",
  team_claim: null,
  teams: {},
  created_at: "2026-01-31T10:00:00.000Z",
  updated_at: "2026-01-31T10:00:00.000Z",
};
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

interface Needed {
  readonly providers: Providers;
  readonly providerStore: Pick<ProviderStore, "list">;
  readonly identityStore: Pick<IdentityStore, "list">;
}

/** `/account/sign_in_providers`: by what people of the account may sign in besides a password. behaviour B.17. */
export function providerRoutes({ providers, providerStore }: Needed): Route[] {
  return [
    route(
      "GET",
      "/account/sign_in_providers",
      {
        summary: "List the providers by which people sign in",
        access,
        query: pageQuery,
        answers: { 200: answer.list(SignInProvider) },
        responses: { 200: [example] },
      },
      async ({ caller: { account }, query }) => {
        return pageReply(await providerStore.list(account.id, pageOf(query)), (row) => toApi(account, row));
      },
    ),
    route(
      "GET",
      "/account/sign_in_providers/:id",
      {
        summary: "One provider",
        access,
        answers: { 200: SignInProvider },
        responses: { 200: example, 304: null },
      },
      async ({ caller: { account }, params }) =>
        ok(...shown(account, await providers.find(account.id, uuidOf(params.id)))),
    ),
    route(
      "POST",
      "/account/sign_in_providers",
      {
        summary: "Let people sign in by a provider",
        description:
          "An OpenID Connect provider. Register `redirect_uri` there; it follows from `code`, which is made of the name by default. Only administrators change providers.",
        access,
        body: { key: "sign_in_provider", schema: Input },
        request: requestExample,
        answers: { 201: SignInProvider },
        responses: { 201: example, 403: onlyAdmins, 422: { issuer: ["must begin with https://"] } },
      },
      async ({ caller, body }) => created(...shown(caller.account, await providers.create(caller, body))),
    ),
    route(
      "PATCH",
      "/account/sign_in_providers/:id",
      {
        summary: "Change a provider",
        description: "Another `issuer` needs the secret again, and ends the links of people to this provider.",
        access,
        ifMatch: true,
        body: { key: "sign_in_provider", schema: Type.Partial(Input) },
        request: { active: false },
        answers: { 200: SignInProvider },
        responses: { 200: { ...example, active: false }, 403: onlyAdmins },
      },
      async ({ request, caller, params, body }) => {
        const id = uuidOf(params.id);
        return ok(...shown(caller.account, await providers.update(caller, id, body, expectedVersion(request, id))));
      },
    ),
    route(
      "DELETE",
      "/account/sign_in_providers/:id",
      {
        summary: "Delete a provider, with the links of people to it",
        access,
        ifMatch: true,
        responses: { 204: null, 403: onlyAdmins },
      },
      async ({ request, caller, params }) => {
        const id = uuidOf(params.id);
        await providers.delete(caller, id, expectedVersion(request, id));
        return noContent();
      },
    ),
  ];
}

/** What else there is of a provider. */
export function providerPartRoutes({ providers, identityStore }: Needed): Route[] {
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
      async ({ caller, params }) => ok(await providers.test(caller.account.id, uuidOf(params.id))),
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
      async ({ caller: { account }, params, query }) => {
        const { id: providerId } = await providers.find(account.id, uuidOf(params.id));
        return pageReply(await identityStore.list({ accountId: account.id, providerId }, pageOf(query)), identityToApi);
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
        await providers.unlink(caller, uuidOf(params.id), integerId(params.identity_id));
        return noContent();
      },
    ),
  ];
}

function shown(account: Account, row: ProviderRow): Parameters<typeof ok> {
  const provider = toApi(account, row);
  return [provider, { etag: etag(row.id, row.version, provider) }];
}

function toApi(account: Account, row: ProviderRow): Static<typeof SignInProvider> {
  return {
    id: row.id,
    name: row.name,
    code: row.code,
    label: row.label,
    active: row.active,
    issuer: row.issuer,
    client_id: row.clientId,
    has_client_secret: row.clientSecret !== null,
    scopes: row.scopes,
    redirect_uri: redirectUriOf(account, row.code),
    post_logout_redirect_uri: signedOutUriOf(account, row.code),
    backchannel_logout_uri: backchannelUriOf(account, row.code),
    create_people: row.createPeople,
    email_domains: row.emailDomains,
    link_by_email: row.linkByEmail,
    verified_claim: row.verifiedClaim,
    trust_second_factor: row.trustSecondFactor,
    sign_out_there: row.signOutThere,
    default_role: row.defaultRole,
    role_claim: row.roleClaim,
    roles: row.roles,
    team_claim: row.teamClaim,
    teams: row.teams,
    created_at: row.createdAt,
    updated_at: row.updatedAt,
  };
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
