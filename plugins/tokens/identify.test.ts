import { describe, expect, test } from "bun:test";
import { sha256 } from "../../runtime/base/hash.ts";
import { createLog } from "../../runtime/system/log.ts";
import type { Accounts } from "../accounts/api.ts";
import { createIdentifier } from "./identify.ts";
import { newRawToken } from "./raw-token.ts";
import type { TokenRow } from "./token.ts";
import { createUsage } from "./usage.ts";

const account = { id: 1, name: "Main", baseUrl: "http://x", timezone: "UTC", locale: "en" };
const user = {
  id: 1,
  login: "a",
  email: null,
  name: "A",
  role: "user",
  teamIds: [],
  groupIds: [],
  departmentIds: [],
} as const;
const row: TokenRow = {
  id: 1,
  accountId: 1,
  userId: 1,
  purpose: null,
  name: null,
  code: null,
  kind: null,
  integrationAppCode: null,
  forAccount: false,
  active: true,
  privileges: [],
  expiresAt: null,
  tokenHash: "",
  tokenInfo: "",
  lastUsedAt: null,
  rateLimit: null,
  networks: [],
  databases: null,
  readOnly: false,
  mcpDelete: false,
  given: false,
  warnedAt: null,
  idleSeconds: null,
  version: 1,
  createdAt: new Date(),
  updatedAt: new Date(),
};

/** An identifier on tokens in memory that says what it asked for. */
function identifierOn(known: Record<string, Partial<TokenRow>>, givenTokens: string[] = []) {
  const rows = new Map(Object.entries(known).map(([raw, fields]) => [sha256(raw), { ...row, ...fields }]));
  const asked: string[] = [];
  let faults = 0;
  let access = { account, user, active: true, privileges: new Set(["prompts", "api_tokens"]) };
  const identityStore = {
    otherText: async () => undefined,
    byHash: async (hash: string) => (asked.push(hash), rows.get(hash)),
    givenHashes: async () => {
      asked.push("given");
      if (faults-- > 0) throw new Error("the database does not answer");
      return new Set(givenTokens.map(sha256));
    },
  };
  const cache = ({ load }: { readonly load: (key: string) => Promise<unknown> }) => ({
    peek: () => undefined,
    get: load,
    invalidate: async () => {},
    clear: async () => {},
  });
  const accounts = {
    accountForHost: async () => undefined,
    defaultAccount: async () => account,
    access: async () => access,
  };
  const usage = createUsage({ touch: async () => {} }, createLog("error"));
  const identifier = createIdentifier({
    // The parts that it uses.
    ctx: { cache } as unknown as Parameters<typeof createIdentifier>[0]["ctx"],
    identityStore: identityStore as unknown as Parameters<typeof createIdentifier>[0]["identityStore"],
    accounts: accounts as unknown as Accounts,
    usage,
  });
  const callerOf = async (token: string, viaCookie = false) =>
    (await identifier.identify("x", { token, viaCookie })).caller;
  return {
    callerOf,
    asked,
    failOnce: () => (faults = 1),
    setAccess: (fields: Partial<typeof access>) => (access = { ...access, ...fields }),
  };
}

describe("what has not our form", () => {
  const shapes = ["", "x", "core_", "x".repeat(10_000), `core_${"0".repeat(42)}`, "\u0000", `${newRawToken()}x`];

  test("is not looked for, but for what was given from outside", async () => {
    const { callerOf, asked } = identifierOn({ "given-token": {} }, ["given-token"]);
    for (const token of shapes) expect(await callerOf(token)).toBeNull();
    expect(asked).toEqual(["given"]);
    expect(await callerOf("given-token")).not.toBeNull();
    expect(asked).toEqual(["given", sha256("given-token")]);
  });

  test("is asked about again where the database did not answer", async () => {
    const { callerOf, failOnce } = identifierOn({ "given-token": {} }, ["given-token"]);
    failOnce();
    expect(await callerOf("given-token").catch(String)).toContain("does not answer");
    expect(await callerOf("given-token")).not.toBeNull();
  });
});

test("a token that nobody has is asked for each time: it may be made any moment", async () => {
  const { callerOf, asked } = identifierOn({});
  const token = newRawToken();
  for (let at = 0; at < 3; at++) expect(await callerOf(token)).toBeNull();
  expect(asked).toHaveLength(3);
});

describe("a token", () => {
  const token = newRawToken();
  const ends = (ms: number) => new Date(Date.now() + ms);

  test.each([
    ["inactive", { active: false }, {}],
    ["just expired", { expiresAt: ends(0) }, {}],
    ["of somebody inactive", {}, { active: false }],
  ])("that is %s is nobody's", async (_what, fields, access) => {
    const { callerOf, setAccess } = identifierOn({ [token]: fields });
    setAccess(access);
    expect(await callerOf(token)).toBeNull();
  });

  test("has its owner's privileges, or those of its list that the owner has", async () => {
    const sets: [readonly string[], string[]][] = [
      [[], ["prompts", "api_tokens"]],
      [["prompts", "users"], ["prompts"]],
      [["users"], []],
    ];
    for (const [privileges, effective] of sets) {
      const { callerOf } = identifierOn({ [token]: { privileges, expiresAt: ends(60_000) } });
      const caller = await callerOf(token);
      expect([...(caller?.privileges ?? [])]).toEqual(effective);
      expect(caller?.narrowedTo).toEqual(privileges);
    }
  });

  test("follows its owner, though the token itself did not change", async () => {
    const { callerOf, setAccess } = identifierOn({ [token]: {} });
    expect((await callerOf(token))?.privileges.has("prompts")).toBe(true);
    setAccess({ privileges: new Set<string>() });
    expect((await callerOf(token))?.privileges.has("prompts")).toBe(false);
  });

  test("in a cookie is one only as a web_token", async () => {
    expect(await identifierOn({ [token]: {} }).callerOf(token, true)).toBeNull();
    expect((await identifierOn({ [token]: { kind: "web_token" } }).callerOf(token, true))?.viaCookie).toBe(true);
  });
});
