import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  otherAccount,
  person,
  startTestApp,
  type Answer,
  type OtherAccount,
  type TestApp,
} from "../../../tests/harness.ts";
import { follower, traces } from "../../../tests/traces.ts";
import { plugins } from "../../index.ts";
import { accounts, unitKinds } from "../api.ts";

let app: TestApp;
let other: OtherAccount;
beforeAll(async () => {
  app = await startTestApp({ plugins: [...plugins, follower] });
  other = await otherAccount(app);
});
afterAll(() => app.stop());

/** What is refused leaves no row and no event. */
async function refused(ask: () => Promise<Answer>): Promise<Answer> {
  const before = await traces(app, "units", "memberships", "users");
  const answer = await ask();
  expect(await traces(app, "units", "memberships", "users")).toEqual(before);
  return answer;
}

describe.each(unitKinds)("a %s", (kind) => {
  const path = `/account/${kind}s`;
  const make = async (name: string) => (await app.post(`${path}.json`, { [kind]: { name } })).json;

  test("is made, read, listed, renamed and deleted", async () => {
    const made = await app.post(`${path}.json`, { [kind]: { name: "Sales" } });
    expect(made.status).toBe(201);
    expect(made.json).toEqual({
      id: expect.any(Number),
      name: "Sales",
      people: 0,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    });
    const { id } = made.json;
    expect((await app.get(`${path}/${id}.json`)).json).toEqual(made.json);
    const listed = await app.get(`${path}.json?q=sal`);
    expect(listed.json).toEqual([made.json]);
    expect(listed.headers.get("x-total-count")).toBe("1");
    const renamed = await app.patch(`${path}/${id}.json`, { [kind]: { name: "North" } });
    expect([renamed.status, renamed.json.name]).toEqual([200, "North"]);
    expect((await app.patch(`${path}/${id}.json`, { [kind]: {} })).json.name).toBe("North");
    expect((await app.delete(`${path}/${id}.json`)).status).toBe(204);
    expect((await app.get(`${path}/${id}.json`)).status).toBe(404);
    expect((await app.delete(`${path}/${id}.json`)).status).toBe(404);
  });

  test.each([{}, { name: null }, { name: 5 }, { name: " " }, { name: "x".repeat(256) }, { name: "a\0" }])(
    "is refused as %j",
    async (fields) => {
      const answer = await refused(() => app.post(`${path}.json`, { [kind]: fields }));
      expect([answer.status, Object.keys(answer.json)]).toEqual([422, ["name"]]);
    },
  );

  test("is found by its own kind, id and account only", async () => {
    const { id } = await make("Here");
    for (const another of unitKinds.filter((name) => name !== kind)) {
      expect((await app.get(`/account/${another}s/${id}.json`)).status).toBe(404);
      expect((await refused(() => app.delete(`/account/${another}s/${id}.json`))).status).toBe(404);
      const user = { login: `${kind}-${another}`, [`${another}_ids`]: [id] };
      const wrongKind = await refused(() => app.post("/account/users.json", { user }));
      expect(wrongKind.status).toBe(422);
    }
    for (const method of ["GET", "PATCH", "DELETE"]) {
      const body = method === "PATCH" ? { [kind]: { name: "x" } } : undefined;
      expect((await refused(() => other.request(method, `${path}/${id}.json`, body))).status).toBe(404);
      expect((await refused(() => app.request(method, `${path}/x.json`, body))).status).toBe(404);
    }
    expect(await app.service(accounts).unitExists(other.id, kind, id)).toBe(false);
  });

  test("leaves its people when it goes", async () => {
    const { id } = await make("Gone");
    const member = await person(app, { [`${kind}Ids`]: [id] });
    const { defaultAccount, unitsOf } = app.service(accounts);
    const account = await defaultAccount();
    expect(await unitsOf(account.id, member.id)).toEqual([{ id, kind, name: "Gone" }]);
    await app.delete(`${path}/${id}.json`);
    const left = await app.get(`/account/users/${member.id}.json`);
    expect(left.json[`${kind}_ids`]).toEqual([]);
  });
});
