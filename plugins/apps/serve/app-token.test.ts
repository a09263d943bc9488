import { describe, expect, test } from "bun:test";
import { contentHash } from "platform";
import { issue, read, type Claims } from "./token.ts";

/** Signs without a key: the claims stay readable, so that a test can change them. */
const secrets = {
  sign: (purpose: string, payload: string) => `${payload}.${contentHash(purpose + payload)}`,
  verify: (purpose: string, signed: string) => {
    const payload = signed.slice(0, signed.lastIndexOf("."));
    return signed === secrets.sign(purpose, payload) ? payload : undefined;
  },
};
const start = Date.parse("2026-01-31T10:00:00Z");
const minute = 60_000;
const hour = 60 * minute;
const asked = {
  accountId: 7,
  appId: "019a9c1e-0000-7000-8000-000000000003",
  viewer: { userId: 3, tokenId: 5 },
  visitor: "v1",
  isDraft: false,
};

/** Tokens, and a clock that the test sets. */
function tokensAt(ms: number) {
  const clock = { ms };
  return {
    clock,
    tokens: {
      issue: (claims: Omit<Claims, "expiresAt">) => issue(secrets, claims, clock.ms),
      read: (token: string) => read(secrets, token, clock.ms),
    },
  };
}

describe("a page's token", () => {
  test.each([
    ["of a person", asked],
    ["of nobody", { ...asked, viewer: null }],
    ["of the author of a draft", { ...asked, isDraft: true }],
    ["of somebody without a visitor's key", { ...asked, visitor: "" }],
  ])("%s says what was claimed, for an hour", (_, claims) => {
    const { clock, tokens } = tokensAt(start);
    const { token, expiresAt } = tokens.issue(claims);
    expect(token).toStartWith("capp_");
    expect(expiresAt).toEqual(new Date(start + hour));
    expect(tokens.read(token)).toMatchObject(claims);
    clock.ms = start + hour - 1000;
    expect(tokens.read(token)).toMatchObject(claims);
    clock.ms = start + hour;
    expect(tokens.read(token)).toBeUndefined();
  });

  test.each([
    ["of another kind", (token: string) => token.replace("capp_", "core_")],
    ["without a prefix", (token: string) => token.slice("capp_".length)],
    ["for another app", (token: string) => token.replace("0003", "0004")],
    ["that lives longer", (token: string) => token.replace("1769857200", "1769957200")],
    ["without a signature", (token: string) => token.slice(0, token.lastIndexOf("."))],
    ["of nothing", () => ""],
  ])("%s is refused", (_, changed) => {
    const { tokens } = tokensAt(start);
    const { token } = tokens.issue(asked);
    expect(changed(token)).not.toBe(token);
    expect(tokens.read(changed(token))).toBeUndefined();
  });
});
