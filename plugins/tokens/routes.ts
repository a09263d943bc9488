import { answer, create, created, resourceRoutes, route, secret, toApi, Type, type Route } from "platform";
import { newRawToken } from "./raw-token.ts";
import { Token, type TokensContext } from "./token.ts";

/** The one answer that shows the token itself. */
export const NewApiToken = answer.object("NewApiToken", { ...Token.answers.one.properties, token: Type.String() });
// Made for the example: the text of a real one is 47 characters.
export const newExample = { ...Token.examples.one, token: "core_…" };

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
          "The answer shows `token`, once. `privileges` narrow it; empty = all that you may. A date in `expires_at` means the end of that day. A token that ends makes none that lasts longer.",
        access: { privilege: Token.privilege },
        errors: "wrapped",
        body: { key: Token.name, schema: Token.bodies.create },
        request: { name: "import of orders", code: "orders", expires_at: "2030-12-31", privileges: ["dbs"] },
        answers: { 201: NewApiToken },
        responses: { 201: newExample },
      },
      async ({ caller, body }) => {
        const raw = newRawToken();
        const row = await create(Token, { ...ctx, caller, raw }, body);
        return secret(created({ ...toApi(Token, row), token: raw }));
      },
    ),
    change,
    erase,
  ];
}
