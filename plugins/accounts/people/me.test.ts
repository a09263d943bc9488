import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { person, startTestApp, type Answer, type TestApp } from "../../../tests/harness.ts";
import { follower, traces } from "../../../tests/traces.ts";
import { plugins } from "../../index.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ plugins: [...plugins, follower] });
});
afterAll(() => app.stop());

const me = "/account/me.json";
const signIn = (login: string, password: string) =>
  app.post("/account/session.json", { login, password }, { token: null });

/** What is refused leaves no row and no event. */
async function refused(ask: () => Promise<Answer>): Promise<Answer> {
  const before = await traces(app, "users");
  const answer = await ask();
  expect(await traces(app, "users")).toEqual(before);
  return answer;
}

describe("me", () => {
  test("shows whoever is signed in, guests and narrowed tokens too", async () => {
    const guest = await person(app, { role: "guest" });
    const shown = await app.get(me, { token: guest.token });
    expect(shown.json).toMatchObject({
      id: guest.id,
      role: "guest",
      effective_privileges: [],
      account: { name: "Main" },
    });
    const narrowed = await person(app, { narrowedTo: ["api_tokens"] });
    expect((await app.get(me, { token: narrowed.token })).json.effective_privileges).toEqual(["api_tokens"]);
    expect((await app.get(me, { token: null })).status).toBe(401);
    expect((await app.patch(me, { user: {} }, { token: null })).status).toBe(401);
  });

  test("changes one's name, and nothing that would lift one up", async () => {
    const { token, id } = await person(app, { role: "guest" });
    const user = {
      name: "Me",
      role: "admin",
      privileges: ["users"],
      active: false,
      login: "root",
      team_ids: [1],
    };
    const changed = await app.patch(me, { user }, { token });
    expect(changed.status).toBe(200);
    expect(changed.json).toMatchObject({
      id,
      name: "Me",
      role: "guest",
      privileges: [],
      active: true,
    });
  });

  test("keeps the address as it is where no mail can confirm another one, and says so", async () => {
    const { login, token } = await person(app, { password: "the old password", email: "kept@example.com" });
    const { headers } = await signIn(login, "the old password");
    const cookie = (headers.get("set-cookie") ?? "").split(";")[0] ?? "";
    const change = (email: string | null) =>
      app.patch(me, { user: { email } }, { token: null, headers: { cookie, origin: app.origin } });
    const answer = await refused(() => change("me@example.com"));
    expect([answer.status, answer.json.email]).toEqual([422, [expect.stringContaining("sends no mails")]]);
    expect((await app.get(me, { token })).json).toMatchObject({ email: "kept@example.com", pending_email: null });
    expect((await change(null)).json.email).toBeNull();
  });

  test.each([
    ["name", { name: "" }],
    ["name", { name: 5 }],
    ["email", { email: "nonsense" }],
    ["email", { email: [] }],
    ["password", { password: "short", current_password: "x" }],
    ["password", { password: null }],
    ["current_password", { password: "a new password" }],
    ["current_password", { password: "a new password", current_password: "wrong" }],
    ["current_password", { password: "a new password", current_password: 5 }],
  ])("refuses a wrong %s: %j", async (field, user) => {
    const { token } = await person(app, { password: "the old password" });
    const answer = await refused(() => app.patch(me, { user }, { token }));
    expect([answer.status, Object.keys(answer.json)]).toEqual([422, [field]]);
  });

  test("takes a new password with the current one, and ends the other sessions", async () => {
    const { login, token } = await person(app, { password: "the old password" });
    const cookieOf = async (password: string) => {
      const answer = await signIn(login, password);
      return (answer.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
    };
    const [mine, elsewhere] = [await cookieOf("the old password"), await cookieOf("the old password")];
    const headers = { cookie: mine, origin: app.origin };
    const user = { password: "the new password", current_password: "the old password" };
    expect((await app.patch(me, { user }, { token: null, headers })).status).toBe(200);
    expect((await app.get(me, { token: null, headers: { cookie: mine } })).status).toBe(200);
    expect((await app.get(me, { token: null, headers: { cookie: elsewhere } })).status).toBe(401);
    expect((await app.get(me, { token })).status).toBe(200); // an API token goes on
    expect((await signIn(login, "the old password")).status).toBe(401);
    expect((await signIn(login, "the new password")).status).toBe(201);
  });

  test("does not let an open session find the password out", async () => {
    const { token } = await person(app, { password: "the old password" });
    const statuses: number[] = [];
    for (let at = 0; at < 12; at++) {
      const user = { password: "a new password", current_password: `guess ${at}` };
      statuses.push((await refused(() => app.patch(me, { user }, { token }))).status);
    }
    expect(statuses.slice(0, 10)).toEqual(Array.from({ length: 10 }, () => 422));
    expect(statuses.slice(10)).toEqual([429, 429]);
  });

  test("confirms no password if none was set", async () => {
    const { token } = await person(app);
    const user = { password: "a new password", current_password: "" };
    expect((await app.patch(me, { user }, { token })).json).toEqual({ current_password: ["is wrong"] });
  });
});
