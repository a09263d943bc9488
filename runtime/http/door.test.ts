/** Hosts that a plugin answers whole: pages first, then the routes that are served there too, then its own 404. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { startTestApp, type TestApp } from "../../tests/harness.ts";
import { plugins } from "../../plugins/index.ts";
import { accounts } from "../../plugins/accounts/api.ts";
import type { Account } from "./auth.ts";
import type { DoorRequest } from "./door.ts";
import { definePlugin } from "../plugin/plugin.ts";
import { ok, text } from "./answers/reply.ts";
import { route } from "./route.ts";

const open = { open: "a test" };
let account: Account | undefined;
/** The hosts that were looked up. */
const found: string[] = [];
const kept = text(200, "a kept page", "text/html");
const site = {
  page: async ({ request }: DoorRequest) => {
    const { pathname } = new URL(request.url);
    if (pathname === "/kept") return kept;
    return pathname === "/hello" ? text(200, "a page", "text/html") : null;
  },
  missing: async () => text(404, "the site's own", "text/html"),
};

const door = definePlugin({
  name: "door-test",
  setup: () => ({
    routes: [
      route("GET", "/shared/:id", { summary: "here and there", access: open, onSites: true, responses: {} }, (input) =>
        ok({ account: input.account.name }),
      ),
      route("GET", "/only-here", { summary: "here", access: open, responses: {} }, () => ok({})),
    ],
    door: {
      find(host) {
        found.push(host);
        return host === "site.test" && account ? { account, ...site } : undefined;
      },
    },
  }),
});

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({
    plugins: [...plugins.filter(({ name }) => !["cms-multilang", "certificates", "demo"].includes(name)), door],
  });
  account = await app.service(accounts).defaultAccount();
});
afterAll(() => app.stop());

const at = (host: string) => ({ token: null, headers: { host } });

test.each([
  ["site.test", "GET", "/hello", 200, "a page"],
  ["site.test", "HEAD", "/hello", 200, ""],
  ["SITE.test.", "GET", "/hello", 200, "a page"],
  ["site.test", "GET", "/shared/1", 200, '{"account":"Main"}'],
  ["site.test", "GET", "/only-here", 404, "the site's own"],
  ["site.test", "GET", "/docs", 404, "the site's own"],
  ["site.test", "GET", "/health", 404, "the site's own"],
  ["site.test", "POST", "/hello", 404, "the site's own"],
  ["site.test", "GET", "/core/prompts.json", 404, "the site's own"],
  ["nobody.test", "GET", "/hello", 404, '{"error":"not found"}'],
  ["nobody.test", "GET", "/", 404, '{"error":"not found"}'],
  ["nobody.test", "GET", "/only-here", 200, "{}"],
])("%s: %s %s is %i", async (host, method, path, status, body) => {
  found.length = 0;
  const answer = await app.request(method, path, undefined, at(host));
  expect([answer.status, answer.text]).toEqual([status, body]);
  // Once for each request, whoever answers it in the end. Other requests come to other hosts.
  expect(found.filter((one) => one.endsWith(".test"))).toEqual([host.toLowerCase().replace(/\.$/, "")]);
});

test("an answer that is given again has the same headers each time, and a request id of its own", async () => {
  const own = { host: "site.test", "x-request-id": "named-by-client" };
  const answers = [
    await app.request("GET", "/kept", undefined, at("site.test")),
    await app.request("GET", "/kept", undefined, { token: null, headers: own }),
    await app.request("GET", "/kept", undefined, at("site.test")),
  ];
  const varying = ["date", "x-request-id"];
  const [first, ...others] = answers.map(({ headers }) => [...headers].filter(([name]) => !varying.includes(name)));
  for (const other of others) expect(other).toEqual(first ?? []);
  expect(Object.fromEntries(first ?? [])).toMatchObject({
    "content-type": "text/html",
    "cross-origin-opener-policy": "same-origin",
    "x-content-type-options": "nosniff",
  });
  const ids = answers.map(({ headers }) => headers.get("x-request-id"));
  expect([new Set(ids).size, ids[1]]).toEqual([3, "named-by-client"]);
});

test("this machine's own address leads to the sign-in page", async () => {
  const answer = await fetch(`${app.origin}/`, { redirect: "manual" });
  expect([answer.status, answer.headers.get("location")]).toEqual([303, "/login"]);
});
