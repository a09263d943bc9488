/** Schemas of the answers of the factors' routes. */
import { answer, field, Type } from "platform";

const passkey = {
  id: Type.Integer(),
  name: Type.String(),
  created_at: answer.time(),
  last_used_at: field.nullable(answer.time()),
};
export const Passkey = answer.object("Passkey", passkey);
export const PasskeyMade = answer.object("PasskeyMade", { ...passkey, recovery_codes: answer.list(Type.String()) });

export const OwnFactors = answer.object("OwnFactors", {
  totp_at: field.nullable(answer.time()),
  passkeys: answer.list(Passkey),
  recovery_codes: Type.Integer(),
  required: Type.Boolean(),
  fresh: Type.Boolean(),
});

export const TotpSetupAnswer = answer.object("TotpSetup", {
  setup: Type.String(),
  secret: Type.String(),
  uri: Type.String(),
  qr: Type.String(),
});

export const RecoveryCodes = answer.object("RecoveryCodes", { recovery_codes: answer.list(Type.String()) });

export const setupExample = {
  setup: "v1.3q2-7w…",
  secret: "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ",
  uri: "otpauth://totp/Main:anna?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Main&algorithm=SHA1&digits=6&period=30",
  qr: "<svg …>",
};

export const codesExample = { recovery_codes: ["k7pd-2mxa-9f3w-c0qe", "w4ht-b8nz-6s2k-yr5d"] };

export const passkeyExample = {
  id: 3,
  name: "Laptop",
  created_at: "2026-01-31T10:00:00.000Z",
  last_used_at: null,
};
