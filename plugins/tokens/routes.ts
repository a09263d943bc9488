import {
  answer,
  create,
  created,
  etag,
  expectedVersion,
  field,
  forbidden,
  integerId,
  invalid,
  ok,
  resourceRoutes,
  route,
  secret,
  toApi,
  Type,
} from "platform";
import type { Caller, Route } from "platform";
import { changeCare, checkedNetworks, findCare, rotate } from "./care.ts";
import { invite } from "./issue.ts";
import { newRawToken } from "./raw-token.ts";
import { Databases, Token, type TokenRow, type TokensContext } from "./token.ts";

const Networks = field.nullable(Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { maxItems: 100 }));

/** The one answer that shows the token itself. */
export const NewApiToken = answer.object("NewApiToken", { ...Token.answers.one.properties, token: Type.String() });
// Made for the example: the text of a real one is 47 characters.
export const newExample = { ...Token.examples.one, token: "core_…" };

const NewToken = Type.Object({
  ...Token.bodies.create.properties,
  networks: Type.Optional(Networks),
  read_only: Type.Optional(field.flag()),
});

/** behaviour 4.2 and B.6. */
export function tokenRoutes(ctx: TokensContext): Route[] {
  const { list, get, change, delete: erase } = resourceRoutes(Token, ctx);
  return [
    list,
    get,
    route(
      "POST",
      "/account/api_tokens",
      {
        summary: "Create a token",
        description:
          "The answer shows `token`, once. `privileges` narrow it; empty = all that you may. A date in `expires_at` means the end of that day. A token that ends makes none that lasts longer. `databases`, `networks` and `read_only` limit it, as `PATCH /core/tokens/:id` does later.",
        access: { privilege: Token.privilege },
        errors: "wrapped",
        body: { key: Token.name, schema: NewToken },
        request: { name: "import of orders", code: "orders", expires_at: "2030-12-31", privileges: ["dbs"] },
        answers: { 201: NewApiToken },
        responses: { 201: newExample },
      },
      async ({ caller, body: { networks, read_only: readOnly = false, ...body } }) => {
        const raw = newRawToken();
        const limits = { networks: checkedNetworks(networks ?? []), readOnly };
        const row = await create(Token, { ...ctx, caller, raw, limits }, body);
        return secret(created({ ...toApi(Token, row), token: raw }));
      },
    ),
    change,
    erase,
  ];
}

const standardDays = 7;
const dayMs = 86_400_000;

const Input = Type.Object({
  days: Type.Optional(Type.Integer({ minimum: 1, maximum: 30, description: "how long the link works; 7 by default" })),
});
const Invitation = answer.object("Invitation", { url: Type.String(), expires_at: answer.time() });

/** A link that lets a person in who has no password yet. behaviour B.1. */
export function invitationRoutes(ctx: TokensContext): Route[] {
  return [
    route(
      "POST",
      "/account/users/:id/invitation",
      {
        summary: "Make a link by which a person signs in once",
        description:
          "Send `url` to the person: it is shown once, opens one session, and takes the place of links that they have not used. In that session they set a password without `current_password` (`PATCH /account/me`), which ends the link and what else it opened. Only who may change the person may invite them, and nobody themselves (403).",
        access: { privilege: "users" },
        when: { active: ["true"] },
        body: { key: "invitation", schema: Input },
        request: { days: standardDays },
        answers: { 201: Invitation },
        responses: {
          201: {
            url: "https://core.example.com/account/auto_login?token=core_…",
            expires_at: "2026-02-07T10:00:00.000Z",
          },
          422: { base: ["this person is switched off"] },
        },
      },
      async ({ caller, params, body }) => {
        const person = await ctx.accounts.changeable(caller, integerId(params.id));
        // Such a link is as good as a sign-in: with it a token would change what its own person signs in with.
        if (person.id === caller.user.id)
          throw forbidden("the link is for somebody else: change your own at /account/me");
        if (!person.active) throw invalid({ base: ["this person is switched off"] });
        const end = new Date(Date.now() + (body.days ?? standardDays) * dayMs);
        const { token } = await invite(ctx, caller, person.id, end);
        const url = `${caller.account.baseUrl}/account/auto_login?token=${token}`;
        return secret(created({ url, expires_at: end }));
      },
    ),
  ];
}

const access = { privilege: "api_tokens" } as const;
const errors = "wrapped";

const Care = Type.Object({
  rate_limit: Type.Optional(field.nullable(Type.Integer({ minimum: 1, maximum: 1_000_000 }))),
  networks: Type.Optional(Networks),
  read_only: Type.Optional(field.flag()),
  mcp_delete: Type.Optional(field.flag()),
  databases: Type.Optional(field.nullable(Databases)),
});

const Rotation = Type.Object({
  overlap_minutes: Type.Optional(Type.Integer({ minimum: 0, maximum: 43_200 })),
});

const example = {
  id: 7,
  rate_limit: 600,
  networks: ["203.0.113.0/24", "2001:db8::/32"],
  read_only: false,
  mcp_delete: false,
  databases: null,
  last_address: "203.0.113.7",
  last_used_at: "2026-01-31T10:00:00.000Z",
};

const TokenCare = answer.object("TokenCare", {
  id: Type.Integer(),
  rate_limit: field.nullable(Type.Integer()),
  networks: answer.list(Type.String()),
  read_only: Type.Boolean(),
  mcp_delete: Type.Boolean(),
  databases: field.nullable(Databases),
  last_address: field.nullable(Type.String()),
  last_used_at: field.nullable(answer.time()),
});

/** What protects a token. behaviour B.6. */
export function careRoutes(ctx: TokensContext): Route[] {
  const shown = async (caller: Caller, id: number): Promise<Parameters<typeof ok>> => {
    await ctx.usage.flush();
    const { row, lastAddress } = await findCare({ ...ctx, caller }, id);
    const body = careOf(row, lastAddress);
    return [body, { etag: etag(row.id, row.version, body) }];
  };
  return [
    route(
      "GET",
      "/core/tokens/:id",
      {
        summary: "How a token is limited, and from where it was used last",
        access,
        errors,
        answers: { 200: TokenCare },
        responses: { 200: example, 304: null },
      },
      async ({ caller, params }) => ok(...(await shown(caller, integerId(params.id)))),
    ),
    route(
      "PATCH",
      "/core/tokens/:id",
      {
        summary: "Limit a token",
        description:
          "`rate_limit`: requests a minute; more are 429, and every answer has `RateLimit` and `RateLimit-Policy`. `networks`: addresses and networks such as `203.0.113.0/24` from which it works; from others it is 403. `read_only`: whatever would change something is 403. `mcp_delete`: agents may also delete with it over `/mcp`. `databases`: code or id to `read`, `add`, `edit` or `manage`; it opens no others, and none further than its owner may. They are kept by id. Tokens that it makes have the same limits. A token that is limited itself changes none (403).",
        access,
        errors,
        ifMatch: true,
        body: { key: "token", schema: Care },
        request: { rate_limit: 600, networks: ["203.0.113.0/24"] },
        answers: { 200: TokenCare },
        responses: {
          200: { ...example, networks: ["203.0.113.0/24"] },
          422: { errors: { networks: ['has "x", which is neither an address nor a network such as 10.0.0.0/8'] } },
        },
      },
      async ({ caller, params, body, ip, request }) => {
        const id = integerId(params.id);
        await changeCare({ ...ctx, caller }, { id, expected: expectedVersion(request, id) }, body, ip);
        return ok(...(await shown(caller, id)));
      },
    ),
    route(
      "POST",
      "/core/tokens/:id/rotate",
      {
        summary: "Give a token another text",
        description:
          "The answer shows the new `token`, once. The old one works for `overlap_minutes` more (default 60, at most 43,200; 0 = no longer); one that was replaced before does not. Everything else of the token stays.",
        access,
        errors,
        body: { schema: Rotation },
        request: { overlap_minutes: 60 },
        answers: { 200: NewApiToken },
        responses: {
          200: newExample,
          422: { errors: { base: ["a session can only be ended"] } },
        },
      },
      async ({ caller, params, body, request }) => {
        const id = integerId(params.id);
        const target = { id, expected: expectedVersion(request, id) };
        const { row, raw } = await rotate({ ...ctx, caller }, target, body.overlap_minutes ?? 60);
        return secret(ok({ ...toApi(Token, row), token: raw }));
      },
    ),
  ];
}

function careOf(row: TokenRow, lastAddress: string | null) {
  return {
    id: row.id,
    rate_limit: row.rateLimit,
    networks: row.networks,
    read_only: row.readOnly,
    mcp_delete: row.mcpDelete,
    databases: row.databases,
    last_address: lastAddress,
    last_used_at: row.lastUsedAt,
  };
}
