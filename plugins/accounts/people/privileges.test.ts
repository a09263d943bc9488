import { afterAll, beforeAll, expect, test } from "bun:test";
import { person, startTestApp, type TestApp } from "../../../tests/harness.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

test("everyone who is signed in may know what each privilege allows, and which roles have it", async () => {
  const guest = await person(app, { role: "guest" });
  const { status, json } = await app.get("/account/privileges.json", { token: guest.token });
  expect(status).toBe(200);
  expect(json).toContainEqual({
    name: "users",
    plugin: "accounts",
    doc: "manage people, teams, departments and groups",
    roles: ["admin"],
  });
  expect(json).toContainEqual(expect.objectContaining({ name: "dbs", roles: ["admin", "manager", "user"] }));
  expect((await app.get("/account/privileges.json", { token: null })).status).toBe(401);
  const admin = await app.get("/account/me.json");
  const names = json.map(({ name }: { name: string }) => name);
  expect(names.toSorted()).toEqual(admin.json.effective_privileges);
});

test("a team says how many people are in it", async () => {
  const { id } = (await app.post("/account/teams.json", { team: { name: "Sales" } })).json;
  await person(app, { teamIds: [id] });
  await person(app, { teamIds: [id] });
  expect((await app.get(`/account/teams/${id}.json`)).json.people).toBe(2);
  expect((await app.get("/account/teams.json")).json).toContainEqual(expect.objectContaining({ id, people: 2 }));
  expect((await app.patch(`/account/teams/${id}.json`, { team: { name: "North" } })).json.people).toBe(2);
});
