import { etag, expectedVersion, field, integerId, ok, route, secret, Type } from "platform";
import { answer, toApi, type Caller, type Route } from "platform";
import { changeCare, findCare, rotate } from "./care.ts";
import { NewApiToken, newExample } from "./routes.ts";
import { Token, type TokenRow, type TokensContext } from "./token.ts";

const access = { privilege: "api_tokens" } as const;
const errors = "wrapped";

const Care = Type.Object({
  rate_limit: Type.Optional(field.nullable(Type.Integer({ minimum: 1, maximum: 1_000_000 }))),
  networks: Type.Optional(field.nullable(Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { maxItems: 100 }))),
  read_only: Type.Optional(field.flag()),
  mcp_delete: Type.Optional(field.flag()),
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
  last_address: "203.0.113.7",
  last_used_at: "2026-01-31T10:00:00.000Z",
};

const TokenCare = answer.object("TokenCare", {
  id: Type.Integer(),
  rate_limit: field.nullable(Type.Integer()),
  networks: answer.list(Type.String()),
  read_only: Type.Boolean(),
  mcp_delete: Type.Boolean(),
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
          "`rate_limit`: requests a minute; more are 429, and every answer has `RateLimit` and `RateLimit-Policy`. `networks`: addresses and networks such as `203.0.113.0/24` from which it works; from others it is 403. `read_only`: whatever would change something is 403. `mcp_delete`: agents may also delete with it over `/mcp`. Tokens that it makes have the same limits. A token that is limited itself changes none (403).",
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
    last_address: lastAddress,
    last_used_at: row.lastUsedAt,
  };
}
