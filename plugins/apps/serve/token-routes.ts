import { credentialOf, ok, route, secret, unauthorized, type Route } from "platform";
import { AppToken } from "../answers.ts";
import { appFor } from "./visit.ts";
import * as pageTokens from "./page-tokens.ts";
import type { AppsContext } from "../context.ts";

/** behaviour B.10: keeps the token of an open page valid. */
export function tokenRoutes(ctx: AppsContext): Route[] {
  return [
    route(
      "POST",
      "/core/apps/:id/token",
      {
        summary: "Renew the token of an app's page",
        description:
          "Send the current, valid token. The new one lasts an hour. Renewal is possible while the viewer's session lives, without one while the app is public.",
        access: { open: "the token itself is the credential", partly: true },
        apps: "its own renewal",
        onSites: true,
        answers: { 200: AppToken },
        responses: {
          200: { token: "capp_…", expires_in: 3600, expires_at: "2026-01-31T11:00:00.000Z" },
          401: { error: "send the token of the app's page" },
        },
      },
      async (input) => {
        const app = await appFor(ctx, input, input.params.id);
        const isOwn = input.app?.appId === app.id;
        const renewed = isOwn && pageTokens.renew(ctx, credentialOf(input.request.headers)?.token ?? "");
        if (!renewed) throw unauthorized("send the token of the app's page");
        const { token, expiresAt } = renewed;
        const expires_in = Math.max(0, Math.floor((expiresAt.getTime() - Date.now()) / 1000));
        return secret(ok({ token, expires_in, expires_at: expiresAt }, { "cache-control": "no-store" }));
      },
    ),
  ];
}
