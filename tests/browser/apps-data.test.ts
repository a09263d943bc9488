import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Frame, Page } from "playwright-core";
import { eventually } from "../harness.ts";
import { frameOf, startStage, user, type Stage } from "./apps-fixture.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
  await user(stage.app, "anna");
  await user(stage.app, "guest-3", "guest");
  const columns = { name: "string", city: "string" };
  await stage.app.post("/core/dbs.json", {
    db: {
      name: "Guests",
      code: "guests",
      schema: { fields: columns, indexed_fields: ["name"] },
      public_methods: {
        list: true,
        get: true,
        create: { required_fields: ["name"] },
        update: true,
        delete: true,
        search: true,
      },
    },
  });
  await stage.app.post("/core/dbs.json", {
    db: {
      name: "Votes",
      code: "votes",
      public_methods: {
        list: { scope_by: "voter", auto_fields: { voter: "{cookie_key}" } },
        create: { auto_fields: { voter: "{cookie_key}", user: "{user_name}" } },
      },
    },
  });
  await stage.app.post("/connect/flows.json", {
    flow: {
      name: "Greet",
      code: "greet",
      kind: "core/custom_flow",
      fields: { program: [{ type: "return", value: { greeting: "Hello {{ name }}" } }] },
    },
  });
  await stage.app.post("/connect/flows.json", {
    flow: {
      name: "Slow",
      code: "slow",
      kind: "core/custom_flow",
      fields: {
        program: [
          { type: "wait", seconds: 2 },
          { type: "return", value: "at last" },
        ],
      },
    },
  });
  await stage.app.post("/connect/flows.json", {
    flow: {
      name: "Fail",
      code: "fail",
      kind: "core/custom_flow",
      fields: { program: [{ type: "fail", message: "no luck" }] },
    },
  });
}, 600_000);
afterAll(() => stage?.stop());

/** An app whose page runs what the test asks for. */
const bare = { source_code: `document.title = "ready";`, actions: [] };

const ready = (page: Page | Frame) => page.waitForFunction(() => document.title === "ready");
const actions = ["greet", "slow", "fail"].map((name) => ({ action: name, flow_code: name, public: true }));

test("core.db: the public methods, for a visitor", async () => {
  const { path } = await stage.make({ ...bare, name: "Guest book", db_code: "guests" });
  const { page, faults } = await stage.open(await stage.visit(), path);
  await ready(page);
  const came = await page.evaluate(async () => {
    const db = core.db();
    const made = await db.create({ name: "Anna", city: "Łódź" });
    const changed = await db.update(made.id, { city: "Kraków" });
    const got = await db.get(made.id);
    const listed = await core.db("guests").list({ limit: 5 });
    const found = await db.search("ann");
    const refused = await db.create({ city: "nowhere" }).catch((error: unknown) => error);
    const gone = await db.delete(made.id);
    const missing = await db.get(made.id).catch((error: unknown) => error);
    const told = (error: unknown) => error instanceof core.CoreError && { status: error.status, errors: error.errors };
    return {
      same: made.id === got.id,
      changed: changed.data,
      listed: listed.length,
      found,
      refused: told(refused),
      gone: gone.deleted,
      missing: told(missing),
    };
  });
  expect(came).toMatchObject({
    same: true,
    changed: { name: "Anna", city: "Kraków" },
    listed: 1,
    found: [{ name: "Anna", city: "Kraków" }],
    refused: { status: 422, errors: { name: [expect.any(String)] } },
    gone: true,
    missing: { status: 404 },
  });
  // What the server refuses on purpose is told by the browser's console as well.
  expect(faults.filter((fault) => !/status of (422|404)/.test(fault))).toEqual([]);
});

test("core.records leaves a changed record in its table", async () => {
  const tables = { orders: { fields: { n: "integer" } }, lines: { fields: { n: "integer" } } };
  const db = { name: "Shop", code: "shop-of-tables", schema: { tables } };
  expect((await stage.app.post("/core/dbs.json", { db })).status).toBe(201);
  const { path } = await stage.make({ ...bare, name: "Shop", public: false, db_code: "shop-of-tables" });
  const { frame: page, faults } = await stage.open(await stage.visit("anna"), path);
  await ready(page);
  const came = await page.evaluate(async () => {
    const records = core.records();
    const made = await records.create({ n: 1 }, { table_name: "orders" });
    const kept = await records.update(made.id, { n: 2 });
    const found = await records.search({ table_name: "orders" });
    const moved = await records.update(made.id, { n: 3 }, { table_name: "lines" });
    return { kept: [kept.table_name, kept.data], found: found.length, moved: moved.table_name };
  });
  expect(came).toEqual({ kept: ["orders", { n: 2 }], found: 1, moved: "lines" });
  expect(faults).toEqual([]);
});

test("core.records follows links as far as the viewer may read, and shows who links to a record", async () => {
  const { app } = stage;
  const link = (to: string) => ({ type: "string", link: to });
  const make = (code: string, fields: object, access: object[] | null = null) =>
    app.post("/core/dbs.json", { db: { name: code, code, schema: { fields }, access } });
  await make("firms", { name: "string" }, []);
  await make("clients", { name: "string", firm: link("firms"), note: "string" }, [
    { to: "everyone", may: "read", hide: ["note"] },
  ]);
  await make("deals", { title: "string", client: link("clients") });
  const add = async (code: string, data: object): Promise<string> =>
    (await app.post(`/core/dbs/${code}/records.json`, { record: { data } })).json.id;
  const client = await add("clients", { name: "Ann", firm: await add("firms", { name: "canary" }), note: "canary" });
  const deal = await add("deals", { title: "Big", client });
  const fields = { dbs: ["clients", "firms"] };
  const { path } = await stage.make({ ...bare, name: "Deals", public: false, db_code: "deals", fields });
  const { frame: page, faults } = await stage.open(await stage.visit("anna"), path);
  await ready(page);
  const came = await page.evaluate(
    async (named) => {
      const records = core.records<{ title: string; client: string }>();
      const one = await records.get(named.deal, { expand: ["client", "client.firm"] });
      const [found] = await records.search({ expand: "client", "filter[client.name]": "Ann" });
      const title: string | undefined = found?.title;
      return {
        one: one.expand,
        found: found?.expand,
        title,
        linked: await core.records("clients").linked(named.client),
      };
    },
    { deal, client },
  );
  expect(came).toMatchObject({
    one: { client: { name: "Ann" }, "client.firm": null },
    found: { client: { name: "Ann" } },
    title: "Big",
    linked: [{ db_code: "deals", field: "client", count: 1, records: [{ title: "Big" }] }],
  });
  expect(JSON.stringify(came)).not.toContain("canary");
  expect(faults).toEqual([]);

  // An app that does not name the other databases does not reach them.
  const other = await stage.make({ ...bare, name: "Alone", public: false, db_code: "deals" });
  const { frame: alone } = await stage.open(await stage.visit("anna"), other.path);
  await ready(alone);
  const closed = await alone.evaluate(async (id) => (await core.records().get(id, { expand: "client" })).expand, deal);
  expect(closed).toEqual({ client: null });
});

test("core.records: the private API, for a viewer with the privilege", async () => {
  const { path } = await stage.make({ ...bare, name: "Back office", public: false, db_code: "guests" });
  const { frame: page, faults } = await stage.open(await stage.visit("anna"), path);
  await ready(page);
  const came = await page.evaluate(async () => {
    const records = core.records();
    const made = await records.create({ name: "Jan", city: "Gdynia" });
    const changed = await records.update(made.id, { city: "Sopot" });
    const [found] = await records.search({ "filter[city]": "Sopot", sort: "-created_at" });
    const listed = await records.list();
    const byFetch = await (await fetch("/core/dbs/guests/records.json", { credentials: "include" })).json();
    await records.delete(made.id);
    return {
      data: changed.data,
      found: found?.["name"],
      listed: listed.length,
      byFetch: byFetch.length,
      left: (await records.list()).length,
    };
  });
  expect(came).toEqual({ data: { name: "Jan", city: "Sopot" }, found: "Jan", listed: 1, byFetch: 1, left: 0 });
  expect(faults).toEqual([]);

  const { frame: guest } = await stage.open(await stage.visit("guest-3"), path);
  await ready(guest);
  const refused = await guest.evaluate(() =>
    core
      .records()
      .list()
      .catch((error: { status: number }) => error.status),
  );
  expect(refused).toBe(403);
});

test("the page's own fetch reaches the app and its database by every id that they have", async () => {
  const { path, id } = await stage.make({ ...bare, name: "By any id", public: false, db_code: "guests", actions });
  const { id: database } = (await stage.app.get("/core/dbs/guests.json")).json;
  const { frame: page } = await stage.open(await stage.visit("anna"), path);
  await ready(page);
  const places = [
    `/core/apps/${id}/storage.json`,
    `/core/apps/${path.slice(3)}/storage.json`,
    `/core/dbs/${database}/records.json`,
    `/core/dbs/${database}/search.json`,
    "/core/dbs/guests/records.json",
    "/core/db/guests/list",
    "/core/dbs/votes/records.json",
  ];
  const statuses = await page.evaluate(
    (all) => Promise.all(all.map((place) => fetch(place).then(({ status }) => status))),
    places,
  );
  // A database that the app does not name is none, also to a viewer who may open it elsewhere.
  expect(statuses).toEqual([200, 200, 200, 200, 200, 200, 404]);
});

/** By XMLHttpRequest, as older code and libraries do. */
const byXhr = `window.xhr = (method, address, body, isAsync = true) => new Promise((resolve, reject) => {
  const request = new XMLHttpRequest();
  request.open(method, address, isAsync);
  request.setRequestHeader("content-type", "application/json");
  request.onload = () => resolve([request.status, JSON.parse(request.responseText || "null")]);
  request.onerror = () => reject(new Error("no answer"));
  request.send(body && JSON.stringify(body));
});
document.title = "ready";`;
declare const xhr: (
  method: string,
  address: string,
  body?: unknown,
  isAsync?: boolean,
) => Promise<[number, Record<string, unknown>]>;

test("an app reaches the private records of fields.dbs, and by XMLHttpRequest what it does by fetch", async () => {
  const { path } = await stage.make({
    name: "Several",
    public: false,
    source_code: byXhr,
    db_code: "guests",
    fields: { dbs: ["votes"] },
  });
  const { frame: page, faults } = await stage.open(await stage.visit("anna"), path);
  await ready(page);
  const came = await page.evaluate(async () => {
    const made = await core.records("votes").create({ choice: "milk" });
    const [changed] = await xhr("PATCH", `/core/dbs/votes/records/${made.id}.json`, { record: { data: { n: 1 } } });
    const [, read] = await xhr("GET", `/core/dbs/votes/records/${made.id}.json`, undefined, false);
    const own = await xhr("GET", `${location.origin}/core/dbs/guests/records.json`);
    await core.records("votes").delete(made.id);
    return [changed, read["data"], own[0]];
  });
  expect(came).toEqual([200, { choice: "milk", n: 1 }, 200]);
  expect(faults).toEqual([]);
});

test("a visitor is one, whatever the database and however it is called", async () => {
  const { path } = await stage.make({ name: "No database", source_code: byXhr });
  const context = await stage.visit();
  for (let round = 1; round <= 2; round++) {
    const { page, faults } = await stage.open(context, path);
    await ready(page);
    const seen = await page.evaluate(async () => {
      await core.db("votes").create({ choice: "tea" });
      await xhr("POST", "/core/db/votes/create", { data: { choice: "tea" } });
      const body = JSON.stringify({ data: { choice: "tea" } });
      await fetch("/core/db/votes/create", { method: "POST", body, headers: { "content-type": "application/json" } });
      return (await core.db("votes").list()).length;
    });
    expect(seen).toBe(3 * round);
    expect(faults).toEqual([]);
  }
});

test("core.action: waits for the result, and rejects with the error", async () => {
  const { path } = await stage.make({ ...bare, name: "Actions", actions });
  const { page, faults } = await stage.open(await stage.visit(), path);
  await ready(page);
  const came = await page.evaluate(async () => {
    const told = (error: unknown) => error instanceof core.CoreError && [error.status, error.message];
    return {
      greeting: await core.action("greet", { name: "Ewa" }),
      slow: await core.action("slow"),
      failed: await core.action("fail").catch(told),
      late: await core.action("slow", {}, { timeout: 50 }).catch(told),
    };
  });
  expect(came).toEqual({
    greeting: { greeting: "Hello Ewa" },
    slow: "at last",
    failed: [500, expect.stringContaining("no luck")],
    late: [0, "the action slow did not finish within 50 ms"],
  });
  expect(faults).toEqual([]);
});

test("core.storage: for each app and visitor, across loads of the page", async () => {
  const { path } = await stage.make({ ...bare, name: "Notes" });
  const visitor = await stage.visit();
  const { page, faults } = await stage.open(visitor, path);
  await ready(page);
  const stored = await page.evaluate(async () => {
    await core.storage.set("a/b.json", { deep: [1, "ł"] });
    await core.storage.set("other", null);
    await core.storage.delete("other");
    return [await core.storage.get("a/b.json"), await core.storage.keys()];
  });
  expect(stored).toEqual([{ deep: [1, "ł"] }, ["a/b.json"]]);
  await page.reload();
  await ready(page);
  expect(await page.evaluate(() => core.storage.get("a/b.json"))).toEqual({ deep: [1, "ł"] });
  expect(faults).toEqual([]);

  const { page: other, faults: others } = await stage.open(await stage.visit(), path);
  await ready(other);
  expect(await other.evaluate(() => core.storage.get("a/b.json"))).toBeNull();
  expect(others).toEqual([]);
});

test.each([["html"], ["kaboom"]])(
  "what %s stores in the browser's own ways is there at the next load, for this visitor alone",
  async (app_engine) => {
    const script = `document.title = "ready"`;
    const game = `const k = kaboom(); window.game = { set: () => k.setData("best", 7), get: () => k.getData("best") }; ${script}`;
    const source_code =
      app_engine === "kaboom" ? game : `<script>var game = { set() {}, get: () => 7 }; ${script}</script>`;
    const { path } = await stage.make({ name: `Stores ${app_engine}`, app_engine, source_code });
    const visitor = await stage.visit();
    const { page, faults } = await stage.open(visitor, path);
    await ready(page);
    const read = () => ({
      items: [
        localStorage.getItem("a"),
        localStorage["b"],
        Object.keys(localStorage).includes("b"),
        "c" in localStorage,
      ],
      session: sessionStorage.getItem("tab"),
      cookie: document.cookie,
      best: (window as unknown as { game: { get(): unknown } }).game.get(),
    });
    await page.evaluate(() => {
      localStorage.clear();
      localStorage.setItem("a", "ł");
      localStorage["b"] = 5;
      localStorage["c"] = "gone";
      delete localStorage["c"];
      sessionStorage.setItem("tab", "one");
      document.cookie = "theme=dark; Path=/; Max-Age=3600";
      document.cookie = "old=1; Max-Age=0";
      document.cookie = "plain=x";
      (window as unknown as { game: { set(): void } }).game.set();
    });
    const stored = { items: ["ł", "5", true, false], session: "one", cookie: "theme=dark; plain=x", best: 7 };
    expect(await page.evaluate(read)).toEqual(stored);
    await eventually(
      async () =>
        (
          await page.evaluate(() =>
            fetch(`/core/apps/${CoreAppContext.app.id}/storage.json`).then((answer) => answer.json()),
          )
        ).length >= 5,
      "the values on the server",
    );
    expect(await page.evaluate(() => core.storage.keys())).toEqual([]);
    expect(
      await page.evaluate(() => {
        try {
          localStorage.setItem("big", "x".repeat(1_000_000));
          return "stored";
        } catch (error) {
          return (error as Error).name;
        }
      }),
    ).toBe("QuotaExceededError");
    await page.reload();
    await ready(page);
    expect(await page.evaluate(read)).toMatchObject({ ...stored, cookie: expect.stringContaining("theme=dark") });
    const { page: tab } = await stage.open(visitor, path);
    await ready(tab);
    expect(await tab.evaluate(() => [localStorage.getItem("a"), sessionStorage.length])).toEqual(["ł", 0]);
    expect(faults).toEqual([]);

    const { page: other } = await stage.open(await stage.visit(), path);
    await ready(other);
    expect(await other.evaluate(() => [localStorage.length, document.cookie])).toEqual([0, ""]);
  },
);

test("a private app keeps what it stores for its viewer, and for the tab", async () => {
  const { path } = await stage.make({ ...bare, name: "Keeps", public: false });
  const { page, frame } = await stage.open(await stage.visit("anna"), path);
  await ready(frame);
  await frame.evaluate(() => {
    localStorage.setItem("for", "anna");
    sessionStorage.setItem("tab", "one");
  });
  await eventually(async () => {
    const answers = await frame.evaluate(() =>
      fetch(`/core/apps/${CoreAppContext.app.id}/storage.json`).then((answer) => answer.json()),
    );
    return answers.length === 2;
  }, "the values on the server");
  await page.reload();
  const again = await frameOf(page);
  await ready(again);
  expect(await again.evaluate(() => [localStorage.getItem("for"), sessionStorage.getItem("tab")])).toEqual([
    "anna",
    "one",
  ]);
});

test("a public database knows a browser by its cookie key, though the sandbox has no cookies", async () => {
  const { path } = await stage.make({ ...bare, name: "Poll", db_code: "votes" });
  const visitor = await stage.visit();
  const vote = async (page: Page) => {
    await ready(page);
    return page.evaluate(async () => {
      await core.db().create({ choice: "tea" });
      return (await core.db().list()).length;
    });
  };
  expect(await vote((await stage.open(visitor, path)).page)).toBe(1);
  expect(await vote((await stage.open(visitor, path)).page)).toBe(2);
  expect(await vote((await stage.open(await stage.visit(), path)).page)).toBe(1);
});

test("core.db().subscribe: live changes", async () => {
  const { path } = await stage.make({ ...bare, name: "Live", db_code: "guests" });
  const { page, faults } = await stage.open(await stage.visit(), path);
  await ready(page);
  await page.evaluate(() => {
    const names: unknown[] = [];
    const stop = core.db().subscribe(({ event, record }) => {
      names.push([event, (record as { data: { name: string } }).data.name]);
      document.title = JSON.stringify(names);
      if (names.length === 2) stop();
    });
  });
  // Which changes come first is not known before the stream stands.
  await eventually(async () => {
    await stage.app.post("/core/dbs/guests/records.json", { record: { data: { name: "live" } } });
    return (await page.title()) !== "ready";
  }, "a live change");
  expect(JSON.parse(await page.title())[0]).toEqual(["create", "live"]);
  // Stopping breaks the stream off.
  expect(faults).toEqual([]);
});

test("a token that was refused is renewed, and the call goes through", async () => {
  const { path } = await stage.make({ ...bare, name: "Renewed", public: false, db_code: "guests" });
  const { page, frame } = await stage.open(await stage.visit("anna"), path);
  await ready(frame);
  let refusals = 0;
  await page.route("**/records.json", (sent) =>
    refusals++ === 0
      ? sent.fulfill({ status: 401, headers: { "access-control-allow-origin": "*" }, body: '{"error":"expired"}' })
      : sent.continue(),
  );
  const renewal = page.waitForResponse(/\/token\.json$/);
  expect(
    await frame.evaluate(() =>
      core
        .records()
        .list()
        .then(() => "answered"),
    ),
  ).toBe("answered");
  expect((await renewal).status()).toBe(200);
});

test("when the session has ended, the page asks to sign in again", async () => {
  const { path } = await stage.make({ ...bare, name: "Ended", public: false, db_code: "guests" });
  const context = await stage.visit("anna");
  const { page, frame } = await stage.open(context, path);
  await ready(frame);
  await context.request.delete(`${stage.app.origin}/account/session.json`, { headers: { origin: stage.app.origin } });
  void frame.evaluate(() => core.records().list()).catch(() => {});
  await page.waitForURL(/\/login\?return_to=/);
});

test("core.files: pictures in the app's own folder, shown on the page", async () => {
  await user(stage.app, "librarian", "manager");
  const { id, path } = await stage.make({ ...bare, name: "Album", public: false });
  const { frame: page, faults } = await stage.open(await stage.visit("librarian"), path);
  await ready(page);
  const came = await page.evaluate(async () => {
    const canvas = Object.assign(document.createElement("canvas"), { width: 4, height: 3 });
    const blob = await new Promise<Blob>((done) => canvas.toBlob((made) => made && done(made), "image/png"));
    const file = new File([blob], "photo.png");
    const first = await core.files.upload(file, { folder: "2026", is_public: true, alts: { en: "A plate" } });
    const second = await core.files.upload(file);
    const shown = async (src: string) => {
      const image = Object.assign(new Image(), { src });
      await image.decode();
      return [image.naturalWidth, image.naturalHeight];
    };
    const sizes = [await shown(first.url), await shown(await core.files.link(second.id))];
    const secret = await shown(second.url).catch(() => "not shown");
    const listed = await core.files.list({ mime: "image/" });
    const got = await core.files.get(first.id);
    await core.files.delete(first.id);
    const left = (await core.files.list()).length;
    const wrong = await core.files.upload(file, { folder: ".." }).catch((error: unknown) => error);
    const errors = wrong instanceof core.CoreError && Object.keys(wrong.errors ?? {});
    return {
      folder: got.folder,
      named: first.name !== second.name,
      sizes,
      secret,
      listed: listed.length,
      left,
      errors,
    };
  });
  expect(came).toEqual({
    folder: `apps/${id}/2026`,
    named: true,
    sizes: [
      [4, 3],
      [4, 3],
    ],
    secret: "not shown",
    listed: 2,
    left: 1,
    errors: ["folder"],
  });
  expect(faults.filter((fault) => !/status of (422|404)|ERR_BLOCKED_BY_ORB/.test(fault))).toEqual([]);
});
