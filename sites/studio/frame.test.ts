/** What the frame of the Studio gets in one request: by rights, bounded, with the look of things. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { adminToken, person, startTestApp, type TestApp } from "../../tests/harness.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

interface Thing {
  readonly kind: string;
  readonly name: string;
  readonly failed: number;
}
const frame = async (token?: string) =>
  (await app.get("/studio/-/frame.json", token === undefined ? {} : { token })).json;
const things = async (token?: string) => ((await frame(token)).things as Thing[]).map(({ kind, name }) => [kind, name]);

describe("the frame", () => {
  test("names tables, apps, flows and sites with their look, each for those who may see it", async () => {
    const look = { icon: "cart", color: "orange" };
    await app.post("/core/dbs.json", { db: { name: "Orders", code: "orders", ...look } });
    await app.post("/core/apps.json", {
      app: { name: "Desk", app_engine: "html", css_engine: "none", source_code: "<h1>Hi</h1>", color: "sky" },
    });
    const program = [{ type: "fail", message: "No stock" }];
    await app.post("/connect/flows.json", { flow: { name: "Intake", code: "intake", fields: { program } } });
    await app.post("/connect/flows/intake/run.json", {});
    await app.post("/cms/sites.json", { site: { name: "Acme", code: "acme", icon: "globe" } });

    const { me, brand, things: all, unread, pages, modules } = await frame();
    expect(me).toMatchObject({ login: "admin", account: { name: brand.name } });
    expect([brand.logo, brand.hue, brand.chroma, unread]).toEqual([null, 178, 0.078, 1]);
    expect([Array.isArray(pages), Array.isArray(modules)]).toEqual([true, true]);
    expect(all).toMatchObject([
      { kind: "table", name: "Orders", code: "orders", ...look, failed: 0 },
      { kind: "app", name: "Desk", code: "desk", icon: null, color: "sky" },
      { kind: "flow", name: "Intake", code: "intake", failed: 1 },
      { kind: "site", name: "Acme", code: "acme", icon: "globe" },
    ]);

    const guest = (await person(app, { role: "guest" })).token;
    expect(await things(guest)).toEqual([]);
    const user = (await person(app, { role: "user" })).token;
    expect(await things(user)).toContainEqual(["table", "Orders"]);
    expect(await things(user)).not.toContainEqual(["flow", "Intake"]);
    expect((await app.get("/studio/-/frame.json", { token: "wrong" })).status).toBe(401);
  });

  test("counts the failures that one is not done with, imports of one's own too", async () => {
    const raw = { raw: "{\n", headers: { "content-type": "application/x-ndjson" } };
    expect((await app.post("/core/dbs/orders/import", undefined, raw)).status).toBe(422);
    const { notices } = (await app.get("/studio/-/home.json")).json;
    const [failed] = notices.filter(({ trouble }: { trouble: string }) => trouble === "notImported");
    expect(failed).toMatchObject({ path: "/core/dbs/{db_id}/tasks", of: "orders", name: "Orders", count: 1 });
    expect((await frame()).unread).toBe(2);
    const done = [[failed.path, failed.id, failed.trouble, failed.at].join(" ")];
    await app.patch("/account/me/preferences.json", { preferences: { "studio.inbox": { done } } });
    expect((await frame()).unread).toBe(1);
    const { token } = await person(app, { role: "admin" });
    const others = (await app.get("/core/tasks.json", { token })).json;
    const own = (await app.get("/core/tasks.json?kind=import&status=failed")).json;
    expect([others, own.length, own[0].db_code]).toEqual([[], 1, "orders"]);
    await app.patch("/core/dbs/orders.json", { db: { access: [] } });
    const user = await person(app, { role: "user" });
    expect((await app.get("/core/tasks.json", { token: user.token })).json).toEqual([]);
    await app.patch("/core/dbs/orders.json", { db: { access: null } });
  });

  test("has a table that somebody was granted, and not one that is closed to them", async () => {
    const { id, token } = await person(app, { role: "guest" });
    await app.post("/core/dbs.json", { db: { name: "Shared", access: [{ to: `user:${id}`, may: "read" }] } });
    await app.post("/core/dbs.json", { db: { name: "Closed", access: [] } });
    expect(await things(token)).toEqual([["table", "Shared"]]);
  });

  test("names no table to a token that is narrowed to others than tables", async () => {
    await app.post("/core/dbs.json", { db: { name: "Granted", access: [{ to: "everyone", may: "read" }] } });
    const names = async (narrowedTo: string[]) =>
      (await things((await person(app, { role: "admin", narrowedTo })).token)).filter(([kind]) => kind === "table");
    expect(await names(["apps"])).toEqual([]);
    expect(await names(["dbs"])).toContainEqual(["table", "Granted"]);
  });

  test.each([
    ["brand_hue", "361", "must be a number from 0 to 360"],
    ["brand_hue", "red", "must be a number from 0 to 360"],
    ["brand_chroma", "0.15", "must be a number from 0 to 0.14"],
    ["brand_logo", "logo.png", "must be the id of a file"],
  ])("refuses %s = %s", async (name, value, message) => {
    const answer = await app.patch("/account/settings.json", { settings: { [name]: value } });
    expect([answer.status, answer.json]).toEqual([422, expect.objectContaining({ [name]: [message] })]);
  });

  test("shows the account's own hue, and takes the step of the first page", async () => {
    expect((await app.get("/studio/-/home.json")).json).toMatchObject({
      steps: { brand: false },
      notices: [{ name: "intake" }, { name: "Orders" }],
    });
    await app.patch("/account/settings.json", { settings: { brand_hue: "262", brand_chroma: "0.13" } });
    expect((await frame()).brand).toMatchObject({ hue: 262, chroma: 0.13 });
    expect((await app.get("/studio/-/home.json")).json.steps.brand).toBe(true);
  });
});

describe("a look", () => {
  test.each([
    ["icon", "<b>", "its name"],
    ["icon", "a".repeat(41), "40"],
    ["color", "blue", "must be one of"],
  ])("refuses %s = %s", async (field, value, words) => {
    const answer = await app.patch("/core/dbs/orders.json", { db: { [field]: value } });
    expect(answer.status).toBe(422);
    expect(JSON.stringify(answer.json)).toContain(words);
  });

  test("can be taken away again", async () => {
    const answer = await app.patch("/core/dbs/orders.json", { db: { icon: null, color: null } });
    expect(answer.json).toMatchObject({ icon: null, color: null });
  });
});

describe("several answers in one", () => {
  test("are packed for who reads that: records repeat their names", async () => {
    const address = `${app.origin}/studio/-/answers.json?path=${encodeURIComponent("/account/me.json")}`;
    const ask = async (encoding: string) => {
      const headers = { authorization: `Bearer ${adminToken}`, "accept-encoding": encoding };
      const answer = await fetch(address, { headers });
      return [answer.headers.get("content-encoding"), answer.headers.get("vary"), await answer.json()];
    };
    const [packed, plain] = [await ask("gzip"), await ask("identity")];
    expect([packed[0], plain[0]]).toEqual(["gzip", null]);
    expect(packed.slice(1)).toEqual(plain.slice(1));
  });

  const ask = async (paths: readonly string[], token?: string) => {
    const query = new URLSearchParams(paths.map((path) => ["path", path]));
    const answer = await app.get(`/studio/-/answers.json?${query}`, token === undefined ? {} : { token });
    return answer.json.answers as readonly ({ headers: Record<string, string>; body: string } | null)[];
  };

  test("are those of each request, with what a page reads of their headers", async () => {
    const { json: db, headers } = await app.post("/core/dbs.json", { db: { name: "Several", code: "several" } });
    const paths = ["/core/dbs/several.json", "/core/dbs/several/records.json?limit=5", "/core/dbs/none.json", "/ready"];
    const [one, records, ...others] = await ask(paths);
    expect([JSON.parse(one?.body ?? "").id, one?.headers["etag"]]).toEqual([db.id, headers.get("etag")]);
    expect(records?.body).toBe("[]");
    expect(others).toEqual([null, null]);
  });

  test("hold nothing that one may not read, or that is told in the log of activity", async () => {
    const { id, token } = await person(app, { role: "guest" });
    await app.post("/core/dbs.json", {
      db: { name: "Mine", code: "mine", access: [{ to: `user:${id}`, may: "read" }] },
    });
    const answers = await ask(["/core/dbs/mine.json", "/core/dbs/several.json", "/account/users.json"], token);
    expect(answers.map((one) => one !== null)).toEqual([true, false, false]);
    expect(await ask(["/core/dbs/several/export.json"])).toEqual([null]);
    // A stream would stay open; an address may be anything.
    expect(await ask(["/core/dbs/several/events", "//", "http://[", "/core/dbs/%E0%A4%A"])).toEqual([
      null,
      null,
      null,
      null,
    ]);
  });
});

describe("the addresses of the first Studio", () => {
  test.each([
    ["/studio/core/dbs/orders/records?open=7", "/studio/tables/orders?open=7"],
    ["/studio/connect/flows/intake", "/studio/flows/intake"],
    ["/studio/account/me", "/studio/me"],
  ])("%s leads to %s", async (from, to) => {
    const answer = await app.get(from, { token: null });
    expect([answer.status, answer.headers.get("location")]).toEqual([301, to]);
  });
});
