/** What is refused when a connector is saved: 422 by field, and nothing is stored and nobody told. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { otherAccount, startTestApp, type Answer, type OtherAccount, type TestApp } from "../../tests/harness.ts";
import { follower, traces } from "../../tests/traces.ts";
import { plugins } from "../index.ts";

let app: TestApp;
let other: OtherAccount;
beforeAll(async () => {
  app = await startTestApp({ plugins: [...plugins, follower] });
  other = await otherAccount(app);
  expect((await app.post(path, { connector: { ...good, code: "taken" } })).status).toBe(201);
  expect((await app.post(path, { connector: { ...good, code: "stays" } })).status).toBe(201);
});
afterAll(() => app.stop());

const path = "/connect/connectors.json";
const good = { name: "Remote", url: "https://api.example.com/v1", secret_token: "a secret that is long enough" };
const method = (given: unknown) => ({ fields: { methods: { go: given } } });
const auth = (given: unknown) => ({ fields: { auth: given } });

async function expectRefused(send: () => Promise<Answer>, status: number, field?: string, message = ""): Promise<void> {
  const before = await traces(app, "connectors");
  const answer = await send();
  expect([answer.status, answer.text]).toEqual([status, expect.any(String)]);
  if (field !== undefined) expect([answer.json[field] ?? []].flat().join("\n")).toContain(message);
  expect(await traces(app, "connectors")).toEqual(before);
}

const wrong: [change: object, field: string, message: string][] = [
  [{ name: "" }, "name", "can't be blank"],
  [{ name: 7 }, "name", "must be a string"],
  [{ code: "a b" }, "code", ""],
  [{ code: "0198c5d2-7a1b-7c3d-8e4f-5a6b7c8d9e10" }, "code", ""],
  [{ code: "taken" }, "code", ""],
  [{ kind: "core/none" }, "kind", "must be one of core/custom_connector"],
  [{ active: "perhaps" }, "active", ""],
  [{ fields: [] }, "fields", "must be an object"],
  [{ fields: { note: "x".repeat(500_001) } }, "fields", "may have at most 500000 characters"],
  [{ url: "" }, "url", "can't be blank"],
  [{ url: "ftp://example.com" }, "url", "must be an absolute http or https address"],
  [{ url: "example.com" }, "url", "must be an absolute http or https address"],
  [{ url: "https://me:pw@example.com" }, "url", "must not carry a user name or password"],
  [{ url: "https://example.com/#top" }, "url", "must not have a #fragment"],
  [{ secret_token: "two\nlines" }, "secret_token", "must be one line"],
  [auth("Bearer"), "fields", "auth must be an object"],
  [auth({ in: "body" }), "fields", "auth.in must be header or query"],
  [auth({ in: "query" }), "fields", "auth.name is required"],
  [auth({ name: "X Key" }), "fields", "auth.name must be the name of a header"],
  [auth({ prefix: "a\nb" }), "fields", "auth.prefix must be a text of one line"],
  [{ fields: { methods: [] } }, "fields", "methods must be an object of method name to method"],
  [
    { fields: { methods: Object.fromEntries(Array.from({ length: 101 }, (_, n) => [`m${n}`, {}])) } },
    "fields",
    "methods may be at most 100",
  ],
  [{ fields: { methods: { "a b": {} } } }, "fields", "methods.a b: a method's name is letters"],
  [method("GET /"), "fields", "methods.go must be an object"],
  [method({ method: "FETCH" }), "fields", "methods.go.method must be one of GET"],
  [method({ path: 7 }), "fields", "methods.go.path must be a text"],
  [method({ path: `/${"x".repeat(2000)}` }), "fields", "methods.go.path may have at most 2000 characters"],
  [method({ path: "//evil.test/x" }), "fields", "methods.go.path must be a path below the url"],
  [method({ path: "https://evil.test/" }), "fields", "methods.go.path must be a path below the url"],
  [method({ path: "/a/../../b" }), "fields", "methods.go.path must not have . or .."],
  [method({ path: "/a/%2E%2e/b" }), "fields", "methods.go.path must not have . or .."],
  [method({ path: "/a b" }), "fields", "methods.go.path must not have blanks"],
  [method({ path: "/a#b" }), "fields", "methods.go.path must not have blanks, \\ or #"],
  [method({ query: "a=1" }), "fields", "methods.go.query must be an object"],
  [method({ headers: ["X"] }), "fields", "methods.go.headers must be an object"],
  [method({ headers: { "X Y": "1" } }), "fields", 'methods.go.headers: "X Y"'],
  [method({ headers: { Host: "evil.test" } }), "fields", "methods.go.headers: Host is set by the server itself"],
  [method({ headers: { "X-A": { b: 1 } } }), "fields", "methods.go.headers.X-A must be a text"],
  [method({ headers: { "X-A": "a\r\nb" } }), "fields", "methods.go.headers.X-A must be a text of one line"],
  [method({ body: {} }), "fields", "methods.go.body cannot be sent with GET"],
  [method({ method: "POST", body: 7 }), "fields", "methods.go.body must be an object, an array or a text"],
  [method({ public: "yes" }), "fields", "methods.go.public must be true or false"],
  [method({ description: 7 }), "fields", "methods.go.description must be a text"],
  [method({ timeout: 0 }), "fields", "methods.go.timeout must be a number of seconds up to 60"],
  [method({ timeout: 61 }), "fields", "methods.go.timeout must be a number of seconds up to 60"],
  [method({ timeout: "5" }), "fields", "methods.go.timeout must be a number of seconds up to 60"],
];

describe("a connector is refused", () => {
  test.each(wrong)("made with %j: %s %s", async (change, field, message) => {
    await expectRefused(() => app.post(path, { connector: { ...good, ...change } }), 422, field, message);
  });
  test.each(wrong)("changed to %j: %s %s", async (change, field, message) => {
    await expectRefused(() => app.patch("/connect/connectors/stays.json", { connector: change }), 422, field, message);
  });

  test.each(["https://other.example.com/v1", "http://api.example.com/v1", "https://api.example.com:8443/v1"])(
    "moved to %s without its secret",
    async (url) => {
      const move = () => app.patch("/connect/connectors/stays.json", { connector: { url } });
      await expectRefused(move, 422, "secret_token", "must be given again");
    },
  );

  test("to another account, and to nobody", async () => {
    const one = "/connect/connectors/stays.json";
    await expectRefused(() => other.patch(one, { connector: { name: "x" } }), 404);
    await expectRefused(() => other.delete(one), 404);
    await expectRefused(() => app.delete(one, { token: null }), 401);
    await expectRefused(() => app.post(path, { connector: good }, { token: null }), 401);
  });
});
