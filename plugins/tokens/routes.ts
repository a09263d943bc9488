import {
  answer,
  created,
  etag,
  expectedVersion,
  field,
  flagOf,
  forbidden,
  integerId,
  pageReply,
  noContent,
  ok,
  pageOf,
  pageQuery,
  route,
  secret,
  Type,
  wildcardPattern,
} from "platform";
import type { Caller, Route } from "platform";
import { ApiToken, NewApiToken } from "./answers.ts";
import type { TokenWriter } from "./change.ts";
import { isAdmin } from "./rules.ts";
import { toApi, type TokenFilter, type TokenRow, type TokenStore } from "./store.ts";
import type { Usage } from "./usage.ts";

const TokenInput = Type.Object({
  name: Type.Optional(field.line()),
  code: Type.Optional(field.line(100)),
  active: Type.Optional(field.flag()),
  expires_at: Type.Optional(field.line(64)),
  kind: Type.Optional(field.line(64)),
  integration_app_code: Type.Optional(field.line(100)),
  for_account: Type.Optional(field.flag()),
  privileges: Type.Optional(field.nullable(field.names())),
});

export const tokenExample = {
  id: 7,
  name: "import of orders",
  code: "orders",
  kind: null,
  active: true,
  expires_at: "2030-12-31T23:59:59.999Z",
  integration_app_code: null,
  for_account: false,
  privileges: ["dbs"],
  token_info: "core_AbC...wxyz",
  user_id: 1,
  last_used_at: null,
  created_at: "2026-01-31T10:00:00.000Z",
  updated_at: "2026-01-31T10:00:00.000Z",
};

// Made for the example: the text of a real one is 47 characters.
const exampleRaw = "core_…";
const access = { privilege: "api_tokens" } as const;
const errors = "wrapped";

interface Needed {
  readonly tokenStore: TokenStore;
  readonly tokenWriter: TokenWriter;
  readonly usage: Usage;
}

/** behaviour 4.2 and B.6. */
export function tokenRoutes({ tokenStore, tokenWriter, usage }: Needed): Route[] {
  return [
    route(
      "GET",
      "/account/api_tokens",
      {
        summary: "List your tokens",
        description: "Sessions are tokens too. The list contains them only with `kind=web_token`.",
        access,
        errors,
        query: {
          for_account: Type.String({
            enum: ["yes"],
            description: "all tokens of the whole account (administrators only)",
          }),
          kind: "`web_token`: web tokens and sessions only",
          q: "searches name and code; `*` and `%` are wildcards",
          ended: Type.Boolean({
            description: "true: only those that are switched off or have expired; false: only those that work",
          }),
          ...pageQuery,
        },
        answers: { 200: answer.list(ApiToken) },
        responses: { 200: [tokenExample] },
      },
      async ({ caller, query }) => {
        const filter = filterOf(caller, query);
        await usage.flush();
        return pageReply(await tokenStore.list(caller.account.id, filter, pageOf(query)), toApi);
      },
    ),
    route(
      "GET",
      "/account/api_tokens/:id",
      { summary: "One token", access, errors, answers: { 200: ApiToken }, responses: { 200: tokenExample, 304: null } },
      async ({ caller, params }) => {
        await usage.flush();
        return ok(...shown(await tokenWriter.find(caller, integerId(params.id))));
      },
    ),
    route(
      "POST",
      "/account/api_tokens",
      {
        summary: "Create a token",
        description:
          "The answer shows `token`, once. `privileges` narrow it; empty = all that you may. A date in `expires_at` means the end of that day. A token that ends makes none that lasts longer.",
        access,
        errors,
        body: { key: "api_token", schema: TokenInput },
        request: { name: "import of orders", code: "orders", expires_at: "2030-12-31", privileges: ["dbs"] },
        answers: { 201: NewApiToken },
        responses: { 201: { ...tokenExample, token: exampleRaw } },
      },
      async ({ caller, body }) => {
        const { row, raw } = await tokenWriter.create(caller, body);
        return secret(created({ ...toApi(row), token: raw }));
      },
    ),
    route(
      "PATCH",
      "/account/api_tokens/:id",
      {
        summary: "Change a token",
        description: "The use of a token is no change of it: `If-Match` compares what people have set.",
        access,
        ifMatch: true,
        errors,
        body: { key: "api_token", schema: TokenInput },
        request: { active: false },
        answers: { 200: ApiToken },
        responses: { 200: { ...tokenExample, active: false } },
      },
      async ({ request, caller, params, body }) => {
        const id = integerId(params.id);
        return ok(...shown(await tokenWriter.update(caller, id, body, expectedVersion(request, id))));
      },
    ),
    route(
      "DELETE",
      "/account/api_tokens/:id",
      {
        summary: "Delete a token",
        description: "A token with `for_account` cannot be deleted (422): running integrations depend on it.",
        access,
        ifMatch: true,
        errors,
        responses: { 204: null, 422: { errors: { base: ["a token with for_account is not deleted"] } } },
      },
      async ({ request, caller, params }) => {
        const id = integerId(params.id);
        await tokenWriter.delete(caller, id, expectedVersion(request, id));
        return noContent();
      },
    ),
  ];
}

/** Its use changes a token without a new version of it. */
function shown(row: TokenRow): Parameters<typeof ok> {
  const token = toApi(row);
  return [token, { etag: etag(row.id, row.version, token) }];
}

function filterOf(caller: Caller, query: URLSearchParams): TokenFilter {
  const q = query.get("q");
  const common = { q: q ? wildcardPattern(q) : undefined, ended: flagOf(query, "ended") };
  if (/^(yes|true|1)$/.test(query.get("for_account") ?? "")) {
    if (!isAdmin(caller)) throw forbidden("tokens of the whole account are for administrators");
    return { ...common, of: "account" };
  }
  return { ...common, of: { userId: caller.user.id, webTokens: query.get("kind") === "web_token" } };
}
