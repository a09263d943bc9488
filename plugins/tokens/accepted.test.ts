import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { otherAccount, person, startTestApp, type TestApp, type TestPerson } from "../../tests/harness.ts";
import { tokens, type ForeignCredential } from "./api.ts";

/** Credentials that another plugin answers for; plugins/apps/attacks.test.ts goes through all that they open. */
let app: TestApp;
let viewer: TestPerson;
let given: ForeignCredential | undefined;
const asked: string[] = [];
beforeAll(async () => {
  app = await startTestApp();
  app.service(tokens).acceptCredential("page_", async (token) => {
    asked.push(token);
    return given;
  });
  viewer = await person(app);
});
afterAll(() => app.stop());
beforeEach(async () => {
  asked.length = 0;
  given = await credential({});
});

async function credential(change: Partial<ForeignCredential>): Promise<ForeignCredential> {
  const [row] = await app.sql`select id from api_tokens where user_id = ${viewer.id} order by id limit 1`;
  const who = { userId: viewer.id, tokenId: Number(row?.["id"]) };
  const grant = { appId: "a", dbCodes: ["own"], visitor: "v" };
  return { accountId: 1, viewer: who, privileges: ["dbs"], app: grant, ...change };
}
const identify = (token: string, { host = "", viaCookie = false } = {}) =>
  app.service(tokens).identify(host, { token, viaCookie });

const refusal = (asking: Promise<unknown>) => asking.catch((error: unknown) => error);

test("an accepted credential is its viewer with no more than the privileges that it keeps", async () => {
  const { caller, app: grant, account } = await identify("page_1");
  expect(asked).toEqual(["page_1"]);
  expect([account.id, caller?.user.id, [...(caller?.privileges ?? [])], caller?.narrowedTo]).toEqual([
    1,
    viewer.id,
    ["dbs"],
    ["dbs"],
  ]);
  expect(grant).toEqual({ appId: "a", dbCodes: ["own"], visitor: "v" });
  given = await credential({ privileges: ["dbs", "users", "webhooks"] });
  expect([...((await identify("page_1")).caller?.privileges ?? [])]).toEqual(["dbs"]);
  given = await credential({ viewer: null });
  expect(await identify("page_1")).toMatchObject({ caller: null, app: { appId: "a" } });
});

test("one that does not work is refused, not taken for nobody", async () => {
  const other = await otherAccount(app);
  const stranger = await person(app, { of: other });
  const tokenId = (await credential({})).viewer?.tokenId ?? 0;
  const wrong: (ForeignCredential | undefined)[] = [
    undefined,
    await credential({ accountId: 99 }),
    await credential({ accountId: other.id }),
    await credential({ viewer: { userId: stranger.id, tokenId } }),
    await credential({ viewer: { userId: viewer.id, tokenId: 999_999 } }),
  ];
  for (const one of wrong) {
    given = one;
    expect(await refusal(identify("page_1"))).toMatchObject({ status: 401 });
  }
  given = await credential({ viewer: null });
  expect(await refusal(identify("page_1", { host: other.host }))).toMatchObject({ status: 401 });
  expect(await refusal(identify(`page_${"x".repeat(600)}`))).toMatchObject({ status: 401 });
});

test("another prefix, and one in a cookie, is not asked for", async () => {
  for (const [token, viaCookie] of [
    ["pag_1", false],
    ["", false],
    ["page_1", true],
  ] as const)
    expect(await identify(token, { viaCookie })).toMatchObject({ caller: null });
  expect(asked).toEqual([]);
});
