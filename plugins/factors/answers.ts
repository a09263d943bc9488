/** Schemas of the answers of the factors' routes. */
import { answer, field, Type } from "platform";

export const OwnFactors = answer.object("OwnFactors", {
  totp_at: field.nullable(answer.time()),
  recovery_codes: Type.Integer(),
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
