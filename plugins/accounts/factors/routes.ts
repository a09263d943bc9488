import { answer, created, field, forbidden, integerId, invalid, noContent, ok, route, secret, Type } from "platform";
import type { Caller, Route } from "platform";
import { totpSetupAnswer, totpSetupExample } from "./api.ts";
import { beginTotp, confirmTotp, removeApp, renewCodes } from "./authenticator.ts";
import { removeFactors } from "./commands.ts";
import type { FactorsContext } from "./context.ts";
import { Passkey, passkeyExample, toApi } from "./passkey-routes.ts";
import { freshOwner, isRequired, mayLose, needsFresh, ownerOf, stale } from "./policy.ts";
import * as factorStore from "./store.ts";

const OwnFactors = answer.object("OwnFactors", {
  totp_at: field.nullable(answer.time()),
  passkeys: answer.list(Passkey),
  recovery_codes: Type.Integer(),
  required: Type.Boolean(),
  fresh: Type.Boolean(),
});

const RecoveryCodes = answer.object("RecoveryCodes", { recovery_codes: answer.list(Type.String()) });

const codesExample = { recovery_codes: ["k7pd-2mxa-9f3w-c0qe", "w4ht-b8nz-6s2k-yr5d"] };

const access = { signedIn: "they are one's own" } as const;

const Confirmation = Type.Object({
  setup: Type.String({ minLength: 1, maxLength: 2000 }),
  code: Type.String({ minLength: 1, maxLength: 100 }),
});

/** `/account/me/factors`: what one proves oneself by besides the password. */
export function factorRoutes(ctx: FactorsContext): Route[] {
  const fresh = (caller: Caller) => freshOwner(ctx, caller);
  return [
    ownFactors(ctx),
    route(
      "POST",
      "/account/me/totp",
      {
        summary: "Begin to set up an authenticator app",
        description: `Show \`qr\` (an SVG document) or \`secret\` to the app, then confirm with a code of it within ten minutes. Until then nothing changes. ${needsFresh}`,
        access,
        answers: { 200: totpSetupAnswer },
        responses: { 200: totpSetupExample, 403: { error: stale } },
      },
      async ({ caller }) => secret(ok(await beginTotp(ctx, await fresh(caller)))),
    ),
    route(
      "POST",
      "/account/me/totp/confirm",
      {
        summary: "Confirm the authenticator app by a code of it",
        description: `From now on it is asked for after the password. It replaces an app set up before. The ten recovery codes are shown once, replace earlier ones, and each works once. ${needsFresh}`,
        access,
        body: { schema: Confirmation },
        request: { setup: totpSetupExample.setup, code: "123456" },
        answers: { 201: RecoveryCodes },
        responses: { 201: codesExample, 403: { error: stale }, 422: { code: ["is wrong"] } },
      },
      async ({ caller, body: { setup, code } }) => {
        const codes = await confirmTotp(ctx, await fresh(caller), setup, code);
        if (!codes) throw invalid({ code: ["is wrong"] });
        return secret(created({ recovery_codes: codes }));
      },
    ),
    route(
      "DELETE",
      "/account/me/totp",
      {
        summary: "Remove the authenticator app",
        description: `The recovery codes go with it unless there is a passkey. ${needsFresh}`,
        access,
        responses: {
          204: null,
          403: { error: stale },
          422: { base: ["this account requires a second factor: set up another one first"] },
        },
      },
      async ({ caller }) => {
        const owner = await fresh(caller);
        const { passkeys: others } = await factorStore.of(ctx.sql, owner);
        await mayLose(ctx, owner, others);
        await removeApp(ctx, owner);
        return noContent();
      },
    ),
    route(
      "POST",
      "/account/me/recovery_codes",
      {
        summary: "Make new recovery codes",
        description: `They are shown once and replace the earlier ones. ${needsFresh}`,
        access,
        answers: { 201: RecoveryCodes },
        responses: { 201: codesExample, 403: { error: stale }, 422: { base: ["there is no second factor"] } },
      },
      async ({ caller }) => {
        const owner = await fresh(caller);
        if (!(await factorStore.of(ctx.sql, owner)).hasAny) throw invalid({ base: ["there is no second factor"] });
        return secret(created({ recovery_codes: await renewCodes(ctx, owner) }));
      },
    ),
    route(
      "DELETE",
      "/account/users/:id/factors",
      {
        summary: "Remove a person's second factors",
        description:
          "For people who have lost them. Their sessions end; the password stays. Only who may change the person may do so, and one's own are changed at `/account/me` (403).",
        access: { privilege: "users" },
        responses: { 204: null },
      },
      async ({ caller, params }) => {
        const person = await ctx.accounts.changeable(caller, integerId(params.id));
        if (person.id === caller.user.id) throw forbidden("change your own at /account/me");
        const owner = { accountId: caller.account.id, userId: person.id };
        await removeFactors(ctx, owner);
        return noContent();
      },
    ),
  ];
}

function ownFactors(ctx: FactorsContext): Route {
  return route(
    "GET",
    "/account/me/factors",
    {
      summary: "Your second factors",
      description:
        "`totp_at`: since when an authenticator app is asked for. `recovery_codes`: how many are left. `required`: whether the account lets you in with a factor only. `fresh`: whether this session began within the last ten minutes, which changes of factors need.",
      access,
      answers: { 200: OwnFactors },
      responses: {
        200: {
          totp_at: "2026-01-31T10:00:00.000Z",
          passkeys: [passkeyExample],
          recovery_codes: 10,
          required: false,
          fresh: true,
        },
      },
    },
    async ({ caller }) => {
      const owner = ownerOf(caller);
      const { totpAt, recoveryCodes } = await factorStore.of(ctx.sql, owner);
      const passkeys = (await factorStore.passkeysOf(ctx.sql, owner)).map(toApi);
      return ok({
        totp_at: totpAt,
        passkeys,
        recovery_codes: recoveryCodes,
        required: await isRequired(ctx, owner),
        fresh: await ctx.tokens.isFresh(caller),
      });
    },
  );
}
