import { answer, created, forbidden, integerId, invalid, route, secret, Type, type Route } from "platform";
import { invite } from "./issue.ts";
import type { TokensContext } from "./token.ts";

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
