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

let app: TestApp;
let other: OtherAccount;

beforeAll(async () => {
  app = await startTestApp({ plugins: [...plugins, follower] });
  other = await otherAccount(app);
});
afterAll(() => app.stop());

const path = "/account/webhooks.json";
let made = 0;
const fresh = (fields: object = {}) => ({
  source_type: "Helpdesk::Ticket",
  kind: "create",
  url: `https://example.com/${++made}`,
  ...fields,
});
const create = (fields: object = {}) => app.post(path, { webhook: fresh(fields) });
const patch = (id: number, fields: object) => app.patch(`/account/webhooks/${id}.json`, { webhook: fields });

/** Refused with exactly these fields, and without a row or an event. */
async function refused(ask: () => Promise<Answer>, ...fields: string[]): Promise<Answer> {
  const tables = ["webhooks", "webhook_deliveries", "webhook_queue"];
  const before = await traces(app, ...tables);
  const answer = await ask();
  expect([answer.status, Object.keys(answer.json).toSorted()]).toEqual([422, fields]);
  expect(await traces(app, ...tables)).toEqual(before);
  return answer;
}

describe("a webhook", () => {
  test("is made with its defaults, and its secret is shown once", async () => {
    const answer = await create({ url: "https://example.com/made", api_token: "a token of the receiver" });
    expect(answer.status).toBe(201);
    const { id, signing_secret, created_at, updated_at, ...rest } = answer.json;
    expect(Number.isInteger(id)).toBe(true);
    expect(signing_secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect([Date.parse(created_at), Date.parse(updated_at)]).not.toContain(NaN);
    expect(rest).toEqual({
      source_type: "Helpdesk::Ticket",
      kind: "create",
      target_kind: "url",
      url: "https://example.com/made",
      target_code: null,
      api_token_info: "a to...iver",
      active: true,
      disabled_reason: null,
      filter: null,
      changed: null,
      ordered: false,
      rate_limit: null,
      rate_period: "second",
      concurrency: 10,
      failing_since: null,
    });
    for (const shown of [await app.get(`/account/webhooks/${id}.json`), await app.get(path), await patch(id, {})]) {
      expect(shown.status).toBe(200);
      for (const secret of [signing_secret, "a token of the receiver"]) expect(shown.text).not.toContain(secret);
    }
  });

  test("keeps its secrets sealed", async () => {
    const { id, signing_secret } = (await create({ api_token: "readable in no table" })).json;
    const [row] = await app.sql`select to_json(w)::text as text from webhooks w where id = ${id}`;
    expect(row?.["text"]).not.toContain("readable in no table");
    expect(row?.["text"]).not.toContain(signing_secret.slice(6));
  });

  test("shows none of a short api_token", async () => {
    const { id, api_token_info } = (await create({ api_token: "short" })).json;
    expect(api_token_info).toBe("...");
    expect((await patch(id, { api_token: null })).json.api_token_info).toBeNull();
  });

  test("is listed with the total, narrowed by exact values", async () => {
    const source = { source_type: "Listed::Thing" };
    for (const fields of [{ kind: "create" }, { kind: "update" }, { kind: "update", active: false }])
      await create({ ...source, ...fields });
    const count = async (query: string) => {
      const answer = await app.get(`${path}?source_type=Listed::Thing${query}`);
      return [answer.json.length, Number(answer.headers.get("x-total-count"))];
    };
    expect(await count("")).toEqual([3, 3]);
    expect(await count("&limit=1&offset=1")).toEqual([1, 3]);
    expect(await count("&kind=update")).toEqual([2, 2]);
    expect(await count("&active=false")).toEqual([1, 1]);
    expect(await count("&target_kind=flow")).toEqual([0, 0]);
  });

  test("is deleted", async () => {
    const { id } = (await create()).json;
    expect((await app.delete(`/account/webhooks/${id}.json`)).status).toBe(204);
    expect((await app.get(`/account/webhooks/${id}.json`)).status).toBe(404);
    expect((await app.delete(`/account/webhooks/${id}.json`)).status).toBe(404);
  });

  test("is not found by another account, by an unknown or by a malformed id", async () => {
    const { id } = (await create()).json;
    const before = await traces(app, "webhooks", "webhook_deliveries", "webhook_queue");
    const places = ["", "/deliveries", "/preview"].map((rest) => `/account/webhooks/${id}${rest}.json`);
    for (const place of places) expect((await other.get(place)).status).toBe(404);
    for (const action of ["test", "rotate_secret", "redeliver", "deliveries/1/redeliver"])
      expect(
        (await other.post(`/account/webhooks/${id}/${action}.json`, { from: "2026-01-01T00:00:00Z" })).status,
      ).toBe(404);
    expect((await other.patch(`/account/webhooks/${id}.json`, { webhook: { active: false } })).status).toBe(404);
    expect((await other.delete(`/account/webhooks/${id}.json`)).status).toBe(404);
    for (const wrong of ["0", "-1", "abc", "1e3", "99999999", "9".repeat(40), "%00"])
      expect((await app.get(`/account/webhooks/${wrong}.json`)).status).toBe(404);
    for (const wrong of ["0", "abc", "99999999"])
      expect((await app.get(`/account/webhooks/${id}/deliveries/${wrong}.json`)).status).toBe(404);
    expect(await traces(app, "webhooks", "webhook_deliveries", "webhook_queue")).toEqual(before);
  });

  test("needs the privilege, which managers have", async () => {
    const manager = await person(app, { role: "manager" });
    const token = { token: manager.token };
    expect((await app.post(path, { webhook: fresh() }, token)).status).toBe(201);
    for (const { token: lacking } of [
      await person(app, { role: "user" }),
      await person(app, { role: "admin", narrowedTo: ["dbs"] }),
    ]) {
      const answer = await app.get(path, { token: lacking });
      expect([answer.status, answer.json.error]).toEqual([403, expect.stringContaining("webhooks")]);
    }
    expect((await app.get(path, { token: null })).status).toBe(401);
  });
});

describe("the address", () => {
  test("is unique within account, source_type and kind", async () => {
    const url = "https://example.com/unique";
    expect((await create({ url })).status).toBe(201);
    await refused(() => create({ url }), "url");
    expect((await create({ url, kind: "update" })).status).toBe(201);
    expect((await create({ url, source_type: "Crm::Client" })).status).toBe(201);
    expect((await other.post(path, { webhook: fresh({ url }) })).status).toBe(201);
    const { id } = (await create()).json;
    await refused(() => patch(id, { url }), "url");
  });

  test("of many requests at once is taken once", async () => {
    const url = "https://example.com/race";
    const answers = await Promise.all(Array.from({ length: 10 }, () => create({ url })));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      201,
      ...Array.from({ length: 9 }, () => 422),
    ]);
  });

  test.each([
    ["", "blank"],
    ["   ", "blank"],
    ["example.com/hook", "no scheme"],
    ["ftp://example.com/", "another scheme"],
    ["javascript:alert(1)", "no address"],
    ["https:example.com", "no authority"],
    ["https://user:password@example.com/", "credentials"],
    ["https://user@example.com/", "a user"],
    ["https://example.com/a b", "a blank"],
    ["https://exa\nmple.com/", "a line break"],
    ["http://", "no host"],
    ["https://example.com:99999/", "no port"],
    [`https://example.com/${"x".repeat(2000)}`, "too long"],
    [`https://example.com/${"ł".repeat(700)}`, "too long as ASCII"],
  ])("%j is refused: %s", async (url) => {
    await refused(() => create({ url }), "url");
  });

  test("is required where the target is one, and cleared where it is another", async () => {
    for (const url of [null, undefined]) await refused(() => create({ url }), "url");
    for (const target_kind of ["connector", "flow"]) {
      const answer = await create({ target_kind, target_code: "orders", url: "https://example.com/ignored" });
      expect(answer.status).toBe(201);
      expect(answer.json).toMatchObject({ target_kind, target_code: "orders", url: null });
      for (const target_code of [null, "", " ", undefined])
        await refused(() => create({ target_kind, target_code }), "target_code");
      const { id } = answer.json;
      await refused(() => patch(id, { target_kind: "url" }), "url");
      const url = `https://example.com/now-${target_kind}`;
      expect((await patch(id, { target_kind: "url", url })).json).toMatchObject({ url, target_code: null });
    }
    expect((await create({ target_code: "ignored" })).json.target_code).toBeNull();
  });
});

describe("the model", () => {
  test.each(["Helpdesk::Ticket", "A::B", "Crm::Client2", "Deep::Down::Model"])("%s may be any", async (source_type) => {
    expect((await create({ source_type, kind: "escalated" })).status).toBe(201);
  });

  test.each([
    "Ticket",
    "helpdesk::Ticket",
    "Helpdesk::",
    "::Ticket",
    "Helpdesk:Ticket",
    "A::b",
    "A::B C",
    "",
    "Ä::B",
    "A::B\n",
  ])("%j is refused", async (source_type) => {
    await refused(() => create({ source_type }), "source_type");
  });

  test("that is registered has its kinds and no others", async () => {
    for (const kind of ["create", "update", "destroy"])
      expect((await create({ source_type: "Core::Record", kind })).status).toBe(201);
    await refused(() => create({ source_type: "Core::Record", kind: "escalated" }), "kind");
    const { id } = (await create({ source_type: "Crm::Client", kind: "escalated" })).json;
    await refused(() => patch(id, { source_type: "Core::Prompt" }), "kind");
  });

  test("has a sample in the list of models", async () => {
    const { json, headers } = await app.get("/account/webhooks/source_types.json");
    expect(headers.get("x-total-count")).toBe(`${json.length}`);
    const page = await app.get("/account/webhooks/source_types.json?limit=2&offset=1");
    expect([page.json, page.headers.get("x-total-count")]).toEqual([json.slice(1, 3), `${json.length}`]);
    const names = json.map(({ source_type }: { source_type: string }) => source_type);
    expect(names).toEqual(expect.arrayContaining(["Core::Prompt", "Core::Db", "Core::Record", "Account::ApiToken"]));
    for (const { kinds, sample } of json) {
      expect(kinds.slice(0, 3)).toEqual(["create", "update", "destroy"]);
      expect(Object.keys(sample).length).toBeGreaterThan(1);
    }
  });
});

describe("bad input", () => {
  test.each([
    ["source_type", 7],
    ["source_type", null],
    ["source_type", `A::${"B".repeat(300)}`],
    ["kind", 7],
    ["kind", ""],
    ["kind", "a b"],
    ["kind", "x".repeat(101)],
    ["target_kind", "mail"],
    ["target_kind", 1],
    ["url", 7],
    ["url", "https://example.com/\0"],
    ["target_code", { a: 1 }],
    ["target_code", "x".repeat(101)],
    ["api_token", 7],
    ["api_token", "two\nlines"],
    ["api_token", "zażółć"],
    ["api_token", "x".repeat(5000)],
    ["active", "yes"],
    ["filter", "db_code=orders"],
    ["filter", ["a"]],
    ["filter", Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`k${n}`, n]))],
    ["filter", { a: "x".repeat(5000) }],
    ["filter", { a: "\0" }],
    ["ordered", 1],
    ["rate_limit", 0],
    ["rate_limit", 1.5],
    ["rate_limit", "5"],
    ["rate_limit", 10_001],
    ["rate_period", "hour"],
    ["concurrency", 0],
    ["concurrency", 101],
  ])("in %s is named: %j", async (name, value) => {
    await refused(() => create({ [name]: value }), name);
    const { id } = (await create()).json;
    await refused(() => patch(id, { [name]: value }), name);
  });

  test("in the code of a target is named, with what is wrong", async () => {
    for (const target_kind of ["flow", "connector"]) {
      for (const [target_code, message] of [
        ["x".repeat(101), "may have at most 100 characters"],
        ["a/b c", `must be the code of a ${target_kind}: letters, digits, - and _`],
        ["ż", `must be the code of a ${target_kind}: letters, digits, - and _`],
      ])
        expect((await refused(() => create({ target_kind, target_code }), "target_code")).json).toEqual({
          target_code: [message],
        });
    }
  });

  test("names all that is missing", async () => {
    await refused(() => app.post(path, { webhook: {} }), "kind", "source_type");
    for (const body of [{}, [], { webhook: null }, { webhook: 7 }])
      expect((await app.post(path, body)).status).toBe(400);
  });

  test("with __proto__ in a filter is a key like any other", async () => {
    const raw = JSON.stringify({ webhook: fresh() }).replace('"kind"', '"filter":{"__proto__":{"x":1}},"kind"');
    const answer = await app.request("POST", path, undefined, { raw, headers: { "content-type": "application/json" } });
    expect(answer.status).toBe(201);
    expect(answer.text).toContain('"filter":{"__proto__":{"x":1}}');
  });

  test.each([{}, { from: "yesterday" }, { from: "2026-01-31" }, { from: 7 }, { from: "2026-13-31T00:00:00Z" }])(
    "in a time range is named: %j",
    async (body) => {
      const { id } = (await create()).json;
      await refused(() => app.post(`/account/webhooks/${id}/redeliver.json`, body), "from");
    },
  );
});

describe("a refused request", () => {
  const tables = ["webhooks", "webhook_deliveries", "webhook_queue", "webhook_rates"];
  /** Every write, of this webhook. */
  const writes = (id: number): readonly (readonly [string, string, object?])[] => [
    ["POST", path, { webhook: fresh() }],
    ["PATCH", `/account/webhooks/${id}.json`, { webhook: { active: false } }],
    ["DELETE", `/account/webhooks/${id}.json`],
    ["POST", `/account/webhooks/${id}/rotate_secret.json`],
    ["POST", `/account/webhooks/${id}/test.json`],
    ["POST", `/account/webhooks/${id}/redeliver.json`, { from: "2020-01-01T00:00:00Z" }],
    ["POST", `/account/webhooks/${id}/deliveries/1/redeliver.json`],
  ];

  test.each([
    ["without a token", 401, async (): Promise<string | null> => null],
    ["of a person without the privilege", 403, async () => (await person(app, { role: "user" })).token],
    ["of a guest", 403, async () => (await person(app, { role: "guest" })).token],
    [
      "of a token that is narrowed to something else",
      403,
      async () => (await person(app, { role: "admin", narrowedTo: ["dbs"] })).token,
    ],
  ] as const)("%s leaves no row and no event, whatever is asked for", async (_, status, tokenOf) => {
    const { id } = (await create()).json;
    const token = await tokenOf();
    const before = await traces(app, ...tables);
    for (const [method, to, body] of writes(id))
      expect([method, to, (await app.request(method, to, body, { token })).status]).toEqual([method, to, status]);
    expect(await traces(app, ...tables)).toEqual(before);
  });

  test("of an inactive webhook's deliveries leaves them as they are", async () => {
    const { id } = (await create({ active: false })).json;
    await refused(() => app.post(`/account/webhooks/${id}/test.json`), "base");
    await refused(() => app.post(`/account/webhooks/${id}/redeliver.json`, { from: "2020-01-01T00:00:00Z" }), "base");
    const missing = await app.post(`/account/webhooks/${id}/deliveries/1/redeliver.json`);
    expect(missing.status).toBe(404);
  });

  test("for one more than an account may have names the limit; another account has its own", async () => {
    const full = await otherAccount(app);
    await app.sql`
      insert into webhooks (account_id, source_type, kind, target_kind, url, active, signing_secret)
      select ${full.id}, 'Full::Up', 'create', 'url', 'https://example.com/' || n, false, '' from generate_series(1, 999) n`;
    const more = (): Promise<Answer> => full.post(path, { webhook: fresh() });
    expect((await more()).status).toBe(201);
    const answer = await refused(more, "base");
    expect(answer.json.base[0]).toContain("1000");
    expect((await create()).status).toBe(201);
  });
});

test("an answer that shows a secret is given once, whatever the Idempotency-Key", async () => {
  const webhook = fresh();
  const headers = { "idempotency-key": "webhook-1" };
  expect((await app.post(path, { webhook }, { headers })).status).toBe(201);
  expect((await app.post(path, { webhook }, { headers })).status).toBe(409);
});

test("the preview shows a signed request, and nothing of the credential but its info", async () => {
  const { id } = (await create({ source_type: "Core::Record", api_token: "a token of the receiver" })).json;
  const { status, json, text } = await app.get(`/account/webhooks/${id}/preview.json`);
  expect(status).toBe(200);
  expect(json).toMatchObject({ method: "POST", body: { db_code: expect.any(String) } });
  expect(json.headers["webhook-signature"]).toMatch(/^v1,/);
  expect(text).not.toContain("a token of the receiver");
  const flow = (await create({ target_kind: "flow", target_code: "f" })).json;
  const shown = (await app.get(`/account/webhooks/${flow.id}/preview.json`)).json;
  expect(shown).toMatchObject({
    target_kind: "flow",
    input: { kind: "webhook", source_type: "Helpdesk::Ticket", event: "create" },
  });
});
