import { answer, created, field, integerId, noContent, notFound, ok, route, secret, Type } from "platform";
import type { Caller, Route } from "platform";
import type { FactorsContext } from "./context.ts";
import { registerPasskey, registrationOptions, removePasskey } from "./passkeys.ts";
import { freshOwner, mayLose, needsFresh, ownerOf, stale } from "./policy.ts";
import * as factorStore from "./store.ts";
import type { PasskeyRow } from "./store.ts";

const passkey = {
  id: Type.Integer(),
  name: Type.String(),
  created_at: answer.time(),
  last_used_at: field.nullable(answer.time()),
};
export const Passkey = answer.object("Passkey", passkey);
const PasskeyMade = answer.object("PasskeyMade", { ...passkey, recovery_codes: answer.list(Type.String()) });

export const passkeyExample = {
  id: 3,
  name: "Laptop",
  created_at: "2026-01-31T10:00:00.000Z",
  last_used_at: null,
};

const access = { signedIn: "they are one's own" } as const;
const bytes = (maxLength: number) => Type.String({ minLength: 1, maxLength, pattern: "^[A-Za-z0-9_-]+$" });
const Made = Type.Object({
  name: field.name(100),
  id: bytes(1400),
  response: Type.Object(
    {
      clientDataJSON: bytes(4000),
      attestationObject: bytes(12_000),
      transports: Type.Optional(Type.Array(Type.String({ maxLength: 30 }), { maxItems: 10 })),
    },
    // Browsers add more, such as `publicKey`.
    { additionalProperties: true },
  ),
});
const Named = Type.Object({ name: field.name(100) });

/** `/account/me/passkeys`: one's own. */
export function passkeyRoutes(ctx: FactorsContext): Route[] {
  const fresh = (caller: Caller) => freshOwner(ctx, caller);
  return [
    route(
      "POST",
      "/account/me/passkeys/options",
      {
        summary: "Begin to register a passkey",
        description: `What \`navigator.credentials.create({ publicKey })\` takes, as JSON. The challenge works once and for five minutes. ${needsFresh}`,
        access,
        answers: { 200: answer.json() },
        responses: {
          200: { challenge: "kJ3…", rp: { id: "core.example.com" } },
          403: { error: stale },
          422: { base: ["you have 20 passkeys: remove one first"] },
        },
      },
      async ({ caller }) => ok(await registrationOptions(ctx, caller.account, await fresh(caller))),
    ),
    route(
      "POST",
      "/account/me/passkeys",
      {
        summary: "Register a passkey",
        description: `\`id\` and \`response\` are what the browser's credential has as JSON. From now on the password alone does not sign in. \`recovery_codes\` is empty unless it is the first second factor. ${needsFresh}`,
        access,
        body: { key: "passkey", schema: Made },
        request: { name: "Laptop", id: "pQ4", response: { clientDataJSON: "eyJ0", attestationObject: "o2Nm" } },
        answers: { 201: PasskeyMade },
        responses: { 201: { ...passkeyExample, recovery_codes: [] }, 403: { error: stale } },
      },
      async ({ caller, body: { name, ...given } }) => {
        const owner = await fresh(caller);
        const { row, recoveryCodes } = await registerPasskey(ctx, caller.account, owner, name, given);
        const made = created({ ...toApi(row), recovery_codes: recoveryCodes });
        return recoveryCodes.length > 0 ? secret(made) : made;
      },
    ),
    route(
      "PATCH",
      "/account/me/passkeys/:id",
      {
        summary: "Rename a passkey",
        access,
        body: { key: "passkey", schema: Named },
        request: { name: "Old laptop" },
        answers: { 200: Passkey },
        responses: { 200: passkeyExample },
      },
      async ({ caller, params, body }) => {
        const row = await factorStore.renamePasskey(ctx.sql, ownerOf(caller), integerId(params.id), body.name);
        if (!row) throw notFound();
        return ok(toApi(row));
      },
    ),
    route(
      "DELETE",
      "/account/me/passkeys/:id",
      {
        summary: "Remove a passkey",
        description: `The last one of somebody without a password stays (422). With the last second factor the recovery codes go. ${needsFresh}`,
        access,
        responses: {
          204: null,
          403: { error: stale },
          422: { base: ["this is your last way in: set a password first"] },
        },
      },
      async ({ caller, params }) => {
        const id = integerId(params.id);
        if (!(await factorStore.passkeysOf(ctx.sql, ownerOf(caller))).some((one) => one.id === id)) throw notFound();
        const owner = await fresh(caller);
        const { totpAt, passkeys: count } = await factorStore.of(ctx.sql, owner);
        await mayLose(ctx, owner, (totpAt ? 1 : 0) + count - 1);
        await removePasskey(ctx, owner, id);
        return noContent();
      },
    ),
  ];
}

export function toApi({ id, name, createdAt, lastUsedAt }: PasskeyRow) {
  return { id, name, created_at: createdAt, last_used_at: lastUsedAt };
}
