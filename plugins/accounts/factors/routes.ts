import {
  created,
  forbidden,
  integerId,
  invalid,
  noContent,
  ok,
  route,
  secret,
  Type,
  type Caller,
  type Route,
} from "platform";
import type { Accounts } from "../api.ts";
import type { Tokens } from "../../tokens/api.ts";
import { codesExample, OwnFactors, passkeyExample, RecoveryCodes, setupExample, TotpSetupAnswer } from "./answers.ts";
import type { Authenticator } from "./authenticator.ts";
import { freshOwner, needsFresh, ownerOf, stale } from "./fresh.ts";
import { toApi } from "./passkey-routes.ts";
import type { PasskeyStore } from "./passkey-store.ts";
import type { Passkeys } from "./passkeys.ts";
import type { Policy } from "./policy.ts";
import type { FactorStore } from "./store.ts";

const access = { signedIn: "they are one's own" } as const;

const Confirmation = Type.Object({
  setup: Type.String({ minLength: 1, maxLength: 2000 }),
  code: Type.String({ minLength: 1, maxLength: 100 }),
});

interface Needed {
  readonly accounts: Pick<Accounts, "changeable">;
  readonly tokens: Pick<Tokens, "isFresh" | "endSessionsOf">;
  readonly authenticator: Authenticator;
  readonly policy: Policy;
  readonly passkeys: Pick<Passkeys, "removeAll">;
  readonly factorStore: Pick<FactorStore, "of">;
  readonly passkeyStore: Pick<PasskeyStore, "list">;
}

/** `/account/me/factors`: what one proves oneself by besides the password. */
export function factorRoutes(needed: Needed): Route[] {
  const { accounts, tokens, authenticator, passkeys } = needed;
  const fresh = (caller: Caller) => freshOwner(tokens, caller);
  return [
    ownFactors(needed),
    route(
      "POST",
      "/account/me/totp",
      {
        summary: "Begin to set up an authenticator app",
        description: `Show \`qr\` (an SVG document) or \`secret\` to the app, then confirm with a code of it within ten minutes. Until then nothing changes. ${needsFresh}`,
        access,
        answers: { 200: TotpSetupAnswer },
        responses: { 200: setupExample, 403: { error: stale } },
      },
      async ({ caller }) => secret(ok(await authenticator.begin(await fresh(caller)))),
    ),
    route(
      "POST",
      "/account/me/totp/confirm",
      {
        summary: "Confirm the authenticator app by a code of it",
        description: `From now on it is asked for after the password. It replaces an app set up before. The ten recovery codes are shown once, replace earlier ones, and each works once. ${needsFresh}`,
        access,
        body: { schema: Confirmation },
        request: { setup: setupExample.setup, code: "123456" },
        answers: { 201: RecoveryCodes },
        responses: { 201: codesExample, 403: { error: stale }, 422: { code: ["is wrong"] } },
      },
      async ({ caller, body: { setup, code } }) => {
        const codes = await authenticator.confirm(await fresh(caller), setup, code);
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
        const { passkeys: others } = await needed.factorStore.of(owner);
        await needed.policy.mayLose(owner, others);
        await authenticator.remove(owner);
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
        if (!(await needed.factorStore.of(owner)).hasAny) throw invalid({ base: ["there is no second factor"] });
        return secret(created({ recovery_codes: await authenticator.renewCodes(owner) }));
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
        const person = await accounts.changeable(caller, integerId(params.id));
        if (person.id === caller.user.id) throw forbidden("change your own at /account/me");
        const owner = { accountId: caller.account.id, userId: person.id };
        await passkeys.removeAll(owner);
        await authenticator.remove(owner);
        await tokens.endSessionsOf(owner.accountId, owner.userId);
        return noContent();
      },
    ),
  ];
}

function ownFactors({ tokens, policy, factorStore, passkeyStore }: Needed): Route {
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
      const { totpAt, recoveryCodes } = await factorStore.of(owner);
      const passkeys = (await passkeyStore.list(owner)).map(toApi);
      return ok({
        totp_at: totpAt,
        passkeys,
        recovery_codes: recoveryCodes,
        required: await policy.isRequired(owner),
        fresh: await tokens.isFresh(caller),
      });
    },
  );
}
