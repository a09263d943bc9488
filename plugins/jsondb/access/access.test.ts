/** Who may do what in a database with `access`: every way in, each with canaries. behaviour B.7. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { followStream, type Follower } from "../../../tests/event-stream.ts";
import { eventually, person, startTestApp, type RequestOptions, type TestApp } from "../../../tests/harness.ts";

let app: TestApp;
/** Edits their own deals, without `secret`, and sees the open ones of others, without `secret` and `amount`. */
let seller: { id: number; token: string };
/** Sees what is open, as everyone does; has no privilege. */
let guest: { id: number; token: string };
let boss: { id: number; token: string };
/** A role that no grant names, in a database where none is for everyone. */
let ids: Record<"ownOpen" | "ownClosed" | "otherOpen" | "otherClosed", string>;

const canary = "canary-7f3a";
const fields = {
  title: "string",
  owner_id: "integer",
  stage: "string",
  amount: "integer",
  secret: "string",
  note: "text",
};
const base = "/core/dbs/deals";

const as = ({ token }: { token: string }): RequestOptions => ({ token });
const accessOf = (): unknown[] => [
  { to: `user:${boss.id}`, may: "manage" },
  { to: "role:user", may: "edit", where: { owner_id: "{user_id}" }, hide: ["secret"] },
  { to: "everyone", may: "read", where: { stage: "open" }, hide: ["secret", "amount"] },
];

beforeAll(async () => {
  app = await startTestApp({ env: { OUTBOUND_ALLOW: "127.0.0.1" } });
  seller = await person(app, { role: "user" });
  guest = await person(app, { role: "guest" });
  boss = await person(app, { role: "user" });
  const schema = { fields, indexed_fields: ["title", "stage", "secret", "owner_id", "amount"] };
  await app.post("/core/dbs", { db: { name: "Deals", code: "deals", schema } });
  const deal = async (title: string, owner_id: number, stage: string, amount: number) => {
    const data = { title, owner_id, stage, amount, secret: `${canary}-${title}`, note: "n", extra: title };
    return (await app.post(`${base}/records`, { record: { data } })).json.id as string;
  };
  ids = {
    ownOpen: await deal("own open", seller.id, "open", 10),
    ownClosed: await deal("own closed", seller.id, "closed", 20),
    otherOpen: await deal("other open", boss.id, "open", 1000),
    otherClosed: await deal("other closed", boss.id, "closed", 2000),
  };
  const set = await app.patch(base, { db: { access: accessOf() } });
  expect([set.status, set.json.access]).toEqual([200, accessOf()]);
});
afterAll(() => app.stop());

// A record flat or nested, read as an outside client does: the assertion is the check.
// oxlint-disable-next-line typescript/no-explicit-any
type Either = any;

const titles = (records: { title?: string; data?: { title: string } }[]) =>
  records.map((one) => `${one.title ?? one.data?.title}`).toSorted();

describe("what is seen", () => {
  test("each person sees the records of their grants, and the fields that one of them shows", async () => {
    for (const path of [`${base}/records?limit=100`, `${base}/search?limit=100`]) {
      expect(titles((await app.get(path)).json)).toEqual(["other closed", "other open", "own closed", "own open"]);
      expect(titles((await app.get(path, as(boss))).json)).toHaveLength(4);
      const sellers = await app.get(path, as(seller));
      expect(titles(sellers.json)).toEqual(["other open", "own closed", "own open"]);
      expect(sellers.text).not.toContain(canary);
      const amounts = Object.fromEntries(
        sellers.json.map((one: Either) => [one.title ?? one.data.title, one.amount ?? one.data?.amount]),
      );
      expect(amounts).toEqual({ "own open": 10, "own closed": 20, "other open": undefined });
      const guests = await app.get(path, as(guest));
      expect(titles(guests.json)).toEqual(["other open", "own open"]);
      expect([guests.text.includes(canary), guests.text.includes("amount")]).toEqual([false, false]);
    }
    const counted = await app.get(`${base}/search?count=true&limit=1`, as(guest));
    expect([counted.headers.get("x-total-count"), counted.json.length]).toEqual(["2", 1]);
  });

  test("a record outside is 404, one inside lacks what is hidden of it", async () => {
    const at = (id: string) => `${base}/records/${id}`;
    expect((await app.get(at(ids.otherClosed), as(seller))).status).toBe(404);
    const own = (await app.get(at(ids.ownOpen), as(seller))).json.data;
    expect([own.amount, "secret" in own, own.extra]).toEqual([10, false, "own open"]);
    const other = (await app.get(at(ids.otherOpen), as(seller))).json.data;
    expect([other.title, "amount" in other, "secret" in other]).toEqual(["other open", false, false]);
    const burst = await Promise.all(Object.values(ids).map((id) => app.get(at(id), as(guest))));
    expect(burst.map(({ status }) => status)).toEqual([200, 404, 200, 404]);
  });

  test("nothing is found, sorted, counted or measured by what is hidden", async () => {
    const found = async (query: string, who = seller) =>
      titles((await app.get(`${base}/search?limit=100&${query}`, as(who))).json);
    expect(await found(`filter[secret]=${canary}-own open`)).toEqual([]);
    expect(await found("filter[secret][null]=true")).toEqual([]);
    expect(await found("filter[secret][ne]=x")).toEqual([]);
    expect(await found("any[0][secret]=*&any[1][title]=own open")).toEqual([]);
    expect(await found("sort=secret")).toEqual([]);
    expect(await found(`q=${canary}`)).toEqual([]);
    expect(await found(`q=${canary}&search_in=secret`)).toEqual([]);
    expect(await found(`q=${canary}&search_in=secret,title`)).toEqual([]);
    // `amount` is shown of the seller's own deals alone: the others are left out where it decides.
    expect(await found("filter[amount][gt]=5")).toEqual(["own closed", "own open"]);
    expect(await found("sort=-amount")).toEqual(["own closed", "own open"]);
    expect(await found("filter[amount][gt]=5", guest)).toEqual([]);
    expect(await found("fields=title,amount")).toEqual(["other open", "own closed", "own open"]);
    const groups = async (query: string, who = seller) => (await app.get(`${base}/aggregate?${query}`, as(who))).json;
    expect(await groups("sum=amount")).toMatchObject([{ count: 2, sum: { amount: 30 } }]);
    expect(await groups("sum=amount", guest)).toMatchObject([{ count: 0 }]);
    expect(await groups("group_by=secret")).toEqual([]);
    expect(await groups("group_by=stage")).toHaveLength(2);
  });

  test("a mistake in a value tells no type of a hidden field, and a hint does not know it", async () => {
    const search = (query: string, who: { token: string }) => app.get(`${base}/search?${query}`, as(who));
    expect((await search("filter[amount][gt]=x", boss)).status).toBe(400);
    expect((await search("filter[amount][gt]=x", guest)).status).toBe(200);
    const hint = (await search("filter[secret]=x", seller)).headers.get("warning");
    expect(hint).toContain("no field");
  });

  test("exports have the same records and fields", async () => {
    for (const format of ["csv", "json", "ndjson"])
      for (const sort of ["id", "-title"]) {
        const text = (await app.get(`${base}/export?format=${format}&sort=${sort}`, as(seller))).text;
        expect([
          format,
          sort,
          text.includes(canary),
          text.includes("other closed"),
          text.includes("own closed"),
        ]).toEqual([format, sort, false, false, true]);
        expect([text.includes("1000"), text.includes("20")]).toEqual([false, true]);
        const guests = (await app.get(`${base}/export?format=${format}&sort=${sort}`, as(guest))).text;
        expect([guests.includes("amount"), guests.includes("own closed")]).toEqual([false, false]);
      }
    expect((await app.get(`${base}/export?format=json&sort=amount`, as(guest))).json).toEqual([]);
  });

  test("the database is shown without what is hidden, to those for whom it opens", async () => {
    const shown = (await app.get(base, as(guest))).json;
    expect(Object.keys(shown.schema.fields)).toEqual(["title", "owner_id", "stage", "note"]);
    expect(JSON.stringify(shown)).not.toContain("secret");
    expect(shown.access).toEqual([{ to: "everyone", may: "read" }]);
    expect((await app.get("/core/dbs", as(guest))).json.map((db: { code: string }) => db.code)).toEqual(["deals"]);
    await app.post("/core/dbs", {
      db: { name: "Closed", code: "closed", access: [{ to: `user:${boss.id}`, may: "read" }] },
    });
    await app.post("/core/dbs", { db: { name: "Free", code: "free" } });
    const codes = async (who: { token: string }) =>
      (await app.get("/core/dbs", as(who))).json.map((db: { code: string }) => db.code).toSorted();
    expect(await codes(seller)).toEqual(["deals", "free"]);
    expect(await codes(boss)).toEqual(["closed", "deals", "free"]);
    expect((await app.get("/core/dbs/closed", as(seller))).status).toBe(404);
    expect((await app.get("/core/dbs/closed/records", as(seller))).status).toBe(404);
    expect((await app.get("/core/dbs/free/records", as(guest))).status).toBe(403);
  });
});

describe("what is written", () => {
  const change = (id: string, data: object, who: { token: string }) =>
    app.patch(`${base}/records/${id}`, { record: { data } }, as(who));

  test("a change needs a grant for the record as it is, for its fields, and for what it becomes", async () => {
    expect((await change(ids.ownOpen, { note: "mine" }, seller)).json.data).toMatchObject({ note: "mine", amount: 10 });
    expect((await change(ids.ownOpen, { note: "mine" }, seller)).text).not.toContain(canary);
    expect((await change(ids.otherOpen, { note: "x" }, seller)).status).toBe(403);
    expect((await change(ids.otherClosed, { note: "x" }, seller)).status).toBe(404);
    expect((await change(ids.ownOpen, { secret: "x" }, seller)).json).toEqual({ secret: ["may not be written"] });
    expect((await change(ids.ownOpen, { owner_id: boss.id }, seller)).status).toBe(403);
    expect((await change(ids.ownOpen, { note: "x" }, guest)).status).toBe(403);
    const { data } = (await app.get(`${base}/records/${ids.ownOpen}`)).json;
    expect(data).toMatchObject({ note: "mine", owner_id: seller.id, secret: `${canary}-own open` });
  });

  test("a new record must be one that the grant lets be written", async () => {
    const add = (data: object, who: { token: string }) => app.post(`${base}/records`, { record: { data } }, as(who));
    const made = await add({ title: "new", owner_id: seller.id, stage: "closed" }, seller);
    expect(made.status).toBe(201);
    expect((await add({ title: "theirs", owner_id: boss.id, stage: "open" }, seller)).status).toBe(403);
    expect((await add({ title: "none" }, seller)).status).toBe(403);
    expect((await add({ title: "s", owner_id: seller.id, secret: "x" }, seller)).status).toBe(422);
    expect((await add({ title: "g", stage: "open" }, guest)).status).toBe(403);
    expect((await app.get(`${base}/search?q=theirs`)).json).toEqual([]);
    expect((await app.delete(`${base}/records/${made.json.id}`, as(seller))).status).toBe(204);
    expect((await app.delete(`${base}/records/${ids.otherOpen}`, as(seller))).status).toBe(403);
    expect((await app.delete(`${base}/records/${ids.otherClosed}`, as(seller))).status).toBe(404);
  });

  test("a batch is all or none", async () => {
    const batch = (operations: object[], who = seller) => app.post(`${base}/batch`, { operations }, as(who));
    const own = { op: "create", data: { title: "b", owner_id: seller.id } };
    const refused = await batch([own, { op: "update", id: ids.ownOpen, data: { owner_id: boss.id } }]);
    expect(refused.status).toBe(403);
    const hidden = await batch([own, { op: "update", id: ids.otherClosed, data: { note: "x" } }]);
    expect(hidden.json).toEqual({ "operations[1].id": ["is not the id of a record of this database"] });
    expect((await app.get(`${base}/search?q=b&search_in=title&filter[title]=b`)).json).toEqual([]);
    const done = await batch([own, { op: "update", id: ids.ownOpen, data: { note: "batch" } }]);
    expect([done.status, done.text.includes(canary)]).toEqual([200, false]);
    expect((await batch([{ op: "delete", id: done.json.results[0].id }])).status).toBe(200);
    expect((await batch([own], guest)).status).toBe(403);
  });

  test("a bulk change reaches the records that may be changed, and none that would leave", async () => {
    const bulk = async (body: object, query: string) => {
      const task = await app.post(`${base}/bulk?${query}`, body, as(seller));
      expect(task.status).toBe(202);
      const at = `${base}/tasks/${task.json.id}`;
      return eventually(async () => {
        const { json } = await app.get(at, as(seller));
        return json.status === "running" ? undefined : json;
      });
    };
    expect(await bulk({ op: "update", data: { note: "bulk" }, all: true }, "")).toMatchObject({
      status: "finished",
      stored: 2,
    });
    expect(await bulk({ op: "update", data: { note: "bulk" } }, "filter[secret]=x")).toMatchObject({ stored: 0 });
    const left = await bulk({ op: "update", data: { owner_id: boss.id }, all: true }, "");
    expect(left).toMatchObject({ status: "finished", stored: 0, failed: 2 });
    const all = (await app.get(`${base}/records`)).json;
    expect(all.filter((one: Either) => one.data.note === "bulk").map((one: Either) => one.data.owner_id)).toEqual([
      seller.id,
      seller.id,
    ]);
    expect((await app.post(`${base}/bulk`, { op: "delete", all: true }, as(guest))).status).toBe(403);
    const tasks = (await app.get(`${base}/tasks`, as(guest))).json;
    expect([tasks, (await app.get(`${base}/tasks`, as(boss))).json.length > 0]).toEqual([[], true]);
  });

  test("an import stores nothing that is outside", async () => {
    const send = (csv: string, query = "") =>
      app.request("POST", `${base}/import${query}`, undefined, {
        ...as(seller),
        headers: { "content-type": "text/csv" },
        raw: csv,
      });
    const good = await send(`title,owner_id,stage\nimp1,${seller.id},open\n`);
    expect([good.status, good.json.imported]).toEqual([201, 1]);
    expect((await send(`title,owner_id\nimp2,${seller.id}\nimp3,${boss.id}\n`)).status).toBe(403);
    expect((await send(`title,owner_id,secret\nimp4,${seller.id},x\n`)).status).toBe(422);
    const names = titles((await app.get(`${base}/search?q=imp`)).json);
    expect(names).toEqual(["imp1"]);
    await app.delete(`${base}/records/${(await app.get(`${base}/search?q=imp1`)).json[0].id}`);
  });
});

test("events tell of the same records and fields, and end with the grant", async () => {
  const follow = (token: string, lastId?: string) =>
    followStream(`${app.origin}${base}/events`, { token, ...(lastId && { lastId }) });
  const access = [{ to: `user:${boss.id}`, may: "manage" }, ...accessOf().slice(1)];
  const followers = {
    seller: await follow(seller.token),
    guest: await follow(guest.token),
    boss: await follow(boss.token),
  };
  const first = followers.guest.lastId();
  const note = async (id: string) => app.patch(`${base}/records/${id}`, { record: { data: { note: "live" } } });
  for (const id of [ids.ownClosed, ids.otherClosed, ids.otherOpen]) await note(id);
  await eventually(() => followers.boss.events.length === 3);
  const seen = ({ events }: Follower) => events.map(({ data }) => data.data.title);
  await eventually(() => followers.seller.events.length === 2 && followers.guest.events.length === 1);
  expect([seen(followers.seller), seen(followers.guest)]).toEqual([["own closed", "other open"], ["other open"]]);
  expect(followers.seller.text() + followers.guest.text()).not.toContain(canary);
  expect(followers.guest.text()).not.toContain("amount");
  const again = await follow(guest.token, first);
  await eventually(() => again.events.length === 1);
  await app.patch(base, { db: { access: access.slice(0, 2) } });
  await note(ids.otherOpen);
  await eventually(() => followers.guest.ended() && again.ended());
  expect([seen(followers.guest), seen(again)]).toEqual([["other open"], ["other open"]]);
  await app.patch(base, { db: { access } });
  await Promise.all(Object.values(followers).map((one) => one.close()));
});

test("a record that leaves what one may see is deleted for them, without its data, and told to nobody else", async () => {
  const follow = (token: string) => followStream(`${app.origin}${base}/events`, { token });
  const followers = {
    seller: await follow(seller.token),
    guest: await follow(guest.token),
    boss: await follow(boss.token),
  };
  const first = followers.guest.lastId();
  const change = async (data: object) => app.patch(`${base}/records/${ids.otherOpen}`, { record: { data } });
  await change({ stage: "closed", title: `${canary}-left` });
  await change({ title: `${canary}-unseen` });
  await change({ stage: "open", title: "other open" });
  await eventually(() => followers.boss.events.length === 3);
  const seen = ({ events }: Follower) => events.map(({ event, data }) => [event, data.id, data.data.title]);
  const expected = [
    ["destroy", ids.otherOpen, undefined],
    ["update", ids.otherOpen, "other open"],
  ];
  await eventually(() => followers.guest.events.length === 2 && followers.seller.events.length === 2);
  expect([seen(followers.guest), seen(followers.seller)]).toEqual([expected, expected]);
  expect(followers.guest.events[0]?.data.data).toEqual({});
  expect(followers.guest.text() + followers.seller.text()).not.toContain(canary);
  const again = await followStream(`${app.origin}${base}/events`, { token: guest.token, lastId: first });
  await eventually(() => again.events.length === 2);
  expect(seen(again)).toEqual(expected);
  await Promise.all([again, ...Object.values(followers)].map((one) => one.close()));
});

describe("programs", () => {
  test("a flow reaches as far as who saved it, asked at each run", async () => {
    const maker = await person(app, { role: "user", privileges: ["flows"] });
    const flow = (op: string, code: string) => {
      const step = op === "search" ? { params: {} } : { data: { title: "by a flow" } };
      const program = [
        { type: "db", op, db: "deals", as: "found", ...step },
        { type: "return", value: "{{ found }}" },
      ];
      return app.post("/connect/flows", { flow: { name: code, code, fields: { program } } }, as(maker));
    };
    const refused = await flow("search", "peeks");
    expect([refused.status, refused.json.error]).toEqual([403, expect.stringContaining("`program[0]`")]);
    await app.patch(base, { db: { access: [...accessOf(), { to: `user:${maker.id}`, may: "read" }] } });
    expect((await flow("search", "reads")).status).toBe(201);
    expect((await flow("create", "writes")).status).toBe(403);
    const run = async () => {
      const started = await app.post("/connect/flows/reads/run", {}, as(maker));
      return eventually(async () => {
        const { json } = await app.get(`/connect/flow_processes/${started.json.id}`, as(maker));
        return ["finished", "error"].includes(json.status) ? json : undefined;
      });
    };
    const whole = await run();
    expect([whole.status, JSON.stringify(whole)]).toEqual(["finished", expect.stringContaining(canary)]);
    const other = await person(app, { role: "user", privileges: ["flows"] });
    const [step] = (await app.get(`/connect/flow_processes/${whole.id}?include=inputs`, as(other))).json.steps;
    expect(step).toMatchObject({ type: "db", input: "[hidden]", output: "[hidden]" });
    const listed = await app.get("/connect/flow_processes?steps=true&include=inputs", as(other));
    expect(listed.json[0].steps[0].output).toBe("[hidden]");
    const third = await person(app, { role: "user", privileges: ["flows"] });
    // Whoever starts a program gets its answer, and not what it has met.
    const own = await app.post("/connect/flows/reads/run", {}, as(other));
    expect([own.text.includes(canary), own.json.steps[0].output]).toEqual([true, "[hidden]"]);
    const shown = await app.get(`/connect/flow_processes/${own.json.id}`, as(other));
    expect(shown.json.data).toEqual(own.json.data);
    expect((await app.get("/connect/flow_processes?steps=false", as(third))).text).not.toContain(canary);
    await app.patch(base, { db: { access: accessOf() } });
    const ended = await run();
    expect([ended.status, JSON.stringify(ended)]).toEqual([
      "error",
      expect.stringContaining("whoever saved this flow"),
    ]);
    expect(JSON.stringify(ended)).not.toContain(canary);
  });

  test("a flow that calls another shows no more than that, and webhooks on processes tell nothing of either", async () => {
    const maker = await person(app, { role: "user", privileges: ["flows"] });
    await app.patch(base, { db: { access: [...accessOf(), { to: `user:${maker.id}`, may: "read" }] } });
    const flow = async (code: string, steps: object[], value: string) => {
      const program = [...steps, { type: "return", value }];
      const made = await app.post("/connect/flows", { flow: { name: code, code, fields: { program } } }, as(maker));
      expect([made.status, made.text]).toEqual([201, expect.any(String)]);
    };
    await flow("inner", [{ type: "db", op: "search", db: "deals", params: {}, as: "found" }], "{{ found }}");
    await flow("outer", [{ type: "flow", flow: "inner", as: "got" }], "{{ got }}");
    const receiver = app.receiver();
    const hook = { source_type: "Connect::FlowProcess", kind: "finished", url: receiver.url };
    expect((await app.post("/account/webhooks", { webhook: hook })).status).toBe(201);
    const started = await app.post("/connect/flows/outer/run", { input: { of: `${canary}-input` } }, as(maker));
    expect(started.text).toContain(canary);
    await eventually(() => receiver.requests.length === 1);
    const { body = "" } = receiver.requests[0] ?? {};
    expect([body.includes(canary), JSON.parse(body)]).toEqual([
      false,
      expect.objectContaining({ input: {}, data: "[hidden]" }),
    ]);
    const other = await person(app, { role: "user", privileges: ["flows"] });
    for (const query of ["?steps=false", "?steps=true&include=inputs", `/${started.json.id}?include=inputs`]) {
      const shown = await app.get(`/connect/flow_processes${query}`, as(other));
      expect([query, shown.status, shown.text.includes(canary)]).toEqual([query, 200, false]);
    }
    await app.patch(base, { db: { access: accessOf() } });
  });

  test("a webhook gets records only if its maker may read all of them", async () => {
    const maker = await person(app, { role: "manager" });
    const receiver = app.receiver();
    const hook = { source_type: "Core::Record", kind: "update", url: receiver.url, filter: { db_code: "deals" } };
    const made = await app.post("/account/webhooks", { webhook: hook }, as(maker));
    expect(made.status).toBe(201);
    const own = await app.post("/account/webhooks", { webhook: { ...hook, url: `${receiver.url}/boss` } });
    expect(own.status).toBe(201);
    const note = (text: string) => app.patch(`${base}/records/${ids.otherOpen}`, { record: { data: { note: text } } });
    await note("one");
    await eventually(() => receiver.requests.length === 1);
    await app.patch(base, { db: { access: [...accessOf(), { to: `user:${maker.id}`, may: "read" }] } });
    await note("two");
    await eventually(() => receiver.requests.length === 3);
    expect(receiver.requests.map(({ path }) => path).toSorted()).toEqual(["/", "/boss", "/boss"]);
    await app.patch(base, { db: { access: accessOf() } });
    const deliveries = (await app.get(`/account/webhooks/${made.json.id}/deliveries`, as(maker))).json;
    const shown = await app.get(`/account/webhooks/${made.json.id}/deliveries/${deliveries[0].id}`, as(maker));
    expect([deliveries.length, shown.status]).toEqual([1, 403]);
  });
});

test("a token opens the databases that it names, by id, no further than its level and its owner", async () => {
  const db = async (code: string) => (await app.post("/core/dbs", { db: { name: code, code } })).json.id as string;
  const [one, two] = [await db("token_one"), await db("token_two")];
  const token = async (databases: unknown, by = {}) =>
    app.post("/account/api_tokens", { api_token: { name: "narrow", databases } }, by);
  const made = await token({ token_one: "add", [two]: "manage", deals: "edit" });
  expect(made.status).toBe(201);
  const by = { token: made.json.token as string };
  expect((await app.get(`/core/tokens/${made.json.id}`)).json.databases).toMatchObject({
    [one]: "add",
    [two]: "manage",
  });
  const codes = (await app.get("/core/dbs", by)).json.map(({ code }: { code: string }) => code).toSorted();
  expect(codes).toEqual(["deals", "token_one", "token_two"]);
  expect((await app.get("/core/dbs/free/records", by)).status).toBe(404);
  const record = await app.post("/core/dbs/token_one/records", { record: { data: { a: 1 } } }, by);
  expect(record.status).toBe(201);
  const change = { record: { data: { a: 2 } } };
  expect((await app.patch(`/core/dbs/token_one/records/${record.json.id}`, change, by)).status).toBe(403);
  expect((await app.patch("/core/dbs/token_one", { db: { name: "x" } }, by)).status).toBe(403);
  expect((await app.patch("/core/dbs/token_two", { db: { name: "Two", code: "token_second" } }, by)).status).toBe(200);
  expect((await app.get("/core/dbs/token_second/records", by)).status).toBe(200);
  await db("token_two");
  expect((await app.get("/core/dbs/token_two/records", by)).status).toBe(404);
  expect((await app.post("/core/dbs", { db: { name: "more" } }, by)).status).toBe(403);
  const program = [{ type: "db", op: "search", db: "free", params: {}, as: "x" }];
  const flow = { name: "by token", code: "by_token", fields: { program } };
  expect((await app.post("/connect/flows", { flow }, by)).status).toBe(403);
  const hook = { source_type: "Core::Record", kind: "create", url: "http://127.0.0.1:1/" };
  expect((await app.post("/account/webhooks", { webhook: hook }, by)).status).toBe(403);
  const wider = await token({ token_one: "edit" }, by);
  expect([wider.status, wider.json.errors]).toEqual([422, { databases: ["token_one is beyond your own token"] }]);
  const inherited = await token(null, by);
  expect((await app.get("/core/dbs/free/records", { token: inherited.json.token })).status).toBe(404);
  expect((await token({ nowhere: "read", token_one: "all" })).json.errors.databases).toHaveLength(2);
  const sellers = await token({ deals: "manage" }, as(seller));
  const seen = (await app.get(`${base}/records`, { token: sellers.json.token })).text;
  expect([seen.includes(canary), seen.includes("other closed"), seen.includes("own closed")]).toEqual([
    false,
    false,
    true,
  ]);
  await app.patch(`/core/tokens/${made.json.id}`, { token: { databases: { free: "read" } } });
  expect((await app.get("/core/dbs/free/records", by)).status).toBe(200);
  expect((await app.get("/core/dbs/token_one/records", by)).status).toBe(404);
});

describe("who decides", () => {
  test("whoever may manage changes schema, access and the database; an administrator always does", async () => {
    expect((await app.patch(base, { db: { name: "x" } }, as(seller))).status).toBe(403);
    expect((await app.delete(base, as(guest))).status).toBe(403);
    expect(
      (await app.patch(`${base}/replace`, { field: "schema", old_string: "title", new_string: "t" }, as(seller)))
        .status,
    ).toBe(403);
    const own = { name: "Locked", code: "locked", access: [{ to: "user:999999", may: "manage" }] };
    expect((await app.post("/core/dbs", { db: own }, as(boss))).status).toBe(201);
    expect((await app.get("/core/dbs/locked", as(boss))).status).toBe(404);
    expect((await app.patch("/core/dbs/locked", { db: { access: null } }, as(boss))).status).toBe(404);
    expect((await app.patch("/core/dbs/locked", { db: { access: null } })).status).toBe(200);
    expect((await app.get("/core/dbs/locked", as(boss))).status).toBe(200);
    expect((await app.patch(base, { db: { access: accessOf() } }, as(boss))).status).toBe(200);
  });

  test("a token that is narrowed needs `dbs`, whatever the list gives", async () => {
    const narrowed = await person(app, { role: "user", narrowedTo: ["prompts"] });
    expect((await app.get(`${base}/records`, as(narrowed))).status).toBe(403);
    const fitting = await person(app, { role: "user", narrowedTo: ["dbs"] });
    expect((await app.get(`${base}/records`, as(fitting))).status).toBe(200);
  });

  test("a grant that is taken away is gone at once", async () => {
    expect((await app.get(`${base}/records`, as(guest))).json).not.toEqual([]);
    await app.patch(base, { db: { access: accessOf().slice(0, 2) } });
    expect((await app.get(`${base}/records`, as(guest))).status).toBe(404);
    await app.patch(base, { db: { access: accessOf() } });
    expect((await app.get(`${base}/records`, as(guest))).status).toBe(200);
  });

  test.each<[access: unknown, mistake: string]>([
    ["all", "must be an array"],
    [[7], "[0] must be an object"],
    [[{ to: "everybody", may: "read" }], "[0].to must be everyone"],
    [[{ to: "user:x", may: "read" }], "[0].to must be"],
    [[{ to: "role:boss", may: "read" }], "[0].to must be"],
    [[{ to: "everyone", may: "write" }], "[0].may must be one of read, add, edit, manage"],
    [[{ to: "everyone", may: "manage", hide: ["secret"] }], "[0].hide must be left out of `manage`"],
    [[{ to: "everyone", may: "manage", where: { a: 1 } }], "[0].where must be left out of `manage`"],
    [[{ to: "everyone", may: "read", where: {} }], "[0].where has no condition"],
    [[{ to: "everyone", may: "read", where: { a: { above: 1 } } }], "[0].where.a.above is no operator"],
    [[{ to: "everyone", may: "read", where: { a: "{user}" } }], "[0].where.a {user} is unknown"],
    [[{ to: "everyone", may: "read", where: { a: [1] } }], "[0].where.a must be one value"],
    [[{ to: "everyone", may: "read", where: { amount: { gt: "x" } } }], "`amount` gt: must be a number"],
    [[{ to: "everyone", may: "read", hide: ["id"] }], "[0].hide[0] id cannot be hidden"],
    [[{ to: "everyone", may: "read", hide: "a" }], "[0].hide must be a list of fields"],
    [[{ to: "everyone", may: "read", wher: {} }], '"wher" is unknown'],
    [Array.from({ length: 51 }, () => ({ to: "everyone", may: "read" })), "at most 50 grants"],
  ])("%j is refused", async (access, mistake) => {
    const { status, json } = await app.patch(base, { db: { access } });
    expect([status, JSON.stringify(json)]).toEqual([
      422,
      expect.stringContaining(JSON.stringify(mistake).slice(1, -1)),
    ]);
    expect(Object.keys(json)).toEqual(["access"]);
  });
});

describe("tables, teams and variables", () => {
  test("a where is read by each table's own types, and ids of teams are lists", async () => {
    const team = (await app.post("/account/teams", { team: { name: "North" } })).json.id;
    const member = await person(app, { role: "user", teamIds: [team] });
    const tables = {
      orders: { fields: { team_id: "integer", no: "string" }, indexed_fields: ["team_id"] },
      notes: { fields: { team_id: "string", no: "string" } },
    };
    const access = [{ to: "everyone", may: "edit", where: { team_id: "{team_ids}" } }];
    await app.post("/core/dbs", { db: { name: "Multi", code: "multi", schema: { tables }, access } });
    const add = async (table_name: string, data: object) =>
      app.post("/core/dbs/multi/records", { record: { table_name, data } });
    await add("orders", { team_id: team, no: "o1" });
    await add("orders", { team_id: team + 1, no: "o2" });
    await add("notes", { team_id: `${team}`, no: "n1" });
    await add("notes", { team_id: "other", no: "n2" });
    const numbers = async (path: string, who: { token: string }) =>
      (await app.get(`/core/dbs/multi/${path}`, as(who))).json
        .map((one: Either) => `${one.no ?? one.data.no}`)
        .toSorted();
    expect(await numbers("records", member)).toEqual(["n1", "o1"]);
    expect(await numbers("search?table_name=orders", member)).toEqual(["o1"]);
    expect(await numbers("records", seller)).toEqual([]);
    const moved = await app.post(
      "/core/dbs/multi/batch",
      { operations: [{ op: "create", table_name: "orders", data: { team_id: team, no: "o3" } }] },
      as(member),
    );
    expect(moved.status).toBe(200);
  });
});

test("a token for some databases is no way to everything else, whatever its owner may", async () => {
  const made = await app.post("/account/api_tokens", { api_token: { name: "few", databases: { deals: "read" } } });
  expect(made.status).toBe(201);
  const by = { token: made.json.token };
  const user = { login: "escape", role: "admin", password: "correct horse battery" };
  expect((await app.post("/account/users", { user }, by)).status).toBe(403);
  expect((await app.patch(`/account/users/${seller.id}`, { user: { password: "correct horse 2" } }, by)).status).toBe(
    403,
  );
  expect((await app.post(`/account/users/${seller.id}/invitation`, { invitation: {} }, by)).status).toBe(403);
});

test("a grant to nobody is told of", async () => {
  const access = [`user:${seller.id}`, "user:999999", "team:999999", "role:guest"].map((to) => ({ to, may: "read" }));
  const made = await app.post("/core/dbs", { db: { name: "Nobody", code: "nobody", access } });
  const warning = made.headers.get("warning") ?? "";
  expect([made.status, warning]).toEqual([201, expect.stringContaining("access[1].to: there is no user 999999")]);
  expect(warning).toContain("access[2].to: there is no team 999999");
  expect(warning).not.toMatch(/access\[[03]\]/);
});

test("a grant that names no field of the database is told of", async () => {
  const schema = { fields: { note: "string", owner: "integer" } };
  const grant = { to: "everyone", may: "read", hide: ["Note"], where: { ownr: "{user_id}" } };
  const db = { name: "Typo", code: "typo", schema, access: [grant] };
  const made = await app.post("/core/dbs", { db });
  expect(made.status).toBe(201);
  const warning = (made.headers.get("warning") ?? "").replaceAll("\\", "");
  expect(warning).toContain('access[0].hide: the schema has no field "Note"');
  expect(warning).toContain('access[0].where: the schema has no field "ownr"');
});

describe("a look as somebody else", () => {
  const look = (body: object, who?: { token: string }) => app.post(`${base}/access/look`, body, who && as(who));

  test("shows what a person sees, by the stored grants and by tried ones, and stores nothing", async () => {
    const before = (await app.get(base)).json.access;
    const own = await look({ user_id: seller.id }, boss);
    expect([own.status, own.json.may, own.json.count, own.json.total]).toEqual([200, "edit", 3, 4]);
    expect(titles(own.json.records)).toEqual(["other open", "own closed", "own open"]);
    expect(own.text).not.toContain(canary);
    const access = [{ to: `user:${guest.id}`, may: "read", where: { amount: { gte: 1000 } }, hide: ["note"] }];
    const tried = await look({ user_id: guest.id, access });
    expect([tried.json.may, tried.json.count, titles(tried.json.records)]).toEqual([
      "read",
      2,
      ["other closed", "other open"],
    ]);
    expect(tried.json.records[0].data).not.toHaveProperty("note");
    expect((await look({ user_id: seller.id, access })).json).toMatchObject({
      may: null,
      count: 0,
      total: 4,
      records: [],
    });
    expect((await app.get(base)).json.access).toEqual(before);
  });

  test("takes `manage`, an active person, and right grants", async () => {
    expect((await look({ user_id: guest.id }, seller)).status).toBe(403);
    expect((await look({ user_id: 999_999 })).json).toEqual({ user_id: ["is nobody of this account"] });
    const wrong = await look({
      user_id: guest.id,
      access: [{ to: "everyone", may: "read", where: { amount: { gte: "many" } } }],
    });
    expect([wrong.status, wrong.json.access[0]]).toEqual([422, expect.stringContaining("[0].where")]);
  });
});
