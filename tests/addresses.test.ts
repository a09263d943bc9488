/** The address of the server: a request that names a made-up one, and an operator who changes it between two starts. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { addressOf } from "../sites/studio/app/address.ts";
import type { Document } from "../sites/studio/app/resources/openapi.ts";
import { resourcesOf } from "../sites/studio/app/resources/resources.ts";
import { adminPassword, createDatabase, startTestApp, type TestApp } from "./harness.ts";

/** As the browser sends it after a sign-in at this host. */
async function signIn(app: TestApp, headers: Record<string, string> = {}): Promise<string> {
  const body = { login: "admin", password: adminPassword };
  const answer = await app.post("/account/session.json", body, { token: null, headers });
  expect(answer.status).toBe(201);
  return (answer.headers.get("set-cookie") ?? "").split(";", 1)[0] ?? "";
}

const rename = (app: TestApp, headers: Record<string, string>) =>
  app.patch("/account/me.json", { user: { name: "Renamed" } }, { token: null, headers });

describe("a made-up Host", () => {
  let app: TestApp;
  let cookie: string;
  let pages: string[];
  beforeAll(async () => {
    app = await startTestApp();
    cookie = await signIn(app);
    const document: Document = (await app.get("/openapi.json")).json;
    const lists = resourcesOf(document).map((one) => addressOf(one, one.path.match(/\{/g)?.map(() => "1") ?? []));
    pages = [
      "/",
      "/studio",
      ...new Set(lists),
      "/login",
      "/logout",
      "/docs",
      "/openapi.json",
      "/client.ts",
      "/nowhere",
    ];
  });
  afterAll(() => app.stop());

  test.each(["evil.invalid", "evil.invalid:8080", 'evil.invalid"><script>', "198.51.100.77"])(
    "%s is repeated by no page, and leads nowhere",
    async (host) => {
      expect(pages.length).toBeGreaterThan(30);
      const name = host.split(/[:"]/, 1)[0] ?? "";
      const asked = { host, "x-forwarded-host": host, forwarded: `host="${host}"`, accept: "text/html" };
      for (const path of pages)
        for (const headers of [asked, { ...asked, cookie }]) {
          const answer = await fetch(app.origin + path, { headers, redirect: "manual" });
          const told = `${JSON.stringify([...answer.headers])} ${await answer.text()}`;
          expect([path, answer.status < 500, told.includes(name)]).toEqual([path, true, false]);
          expect(answer.headers.get("location") ?? "/").toMatch(/^\/(?!\/)/);
        }
    },
  );

  test("stands in no link that is sent to somebody", async () => {
    const { id } = (await app.post("/account/users.json", { user: { login: "invited" } })).json;
    const invite = { invitation: { days: 1 } };
    const headers = { host: "evil.invalid", "x-forwarded-host": "evil.invalid" };
    const { status, json } = await app.post(`/account/users/${id}/invitation.json`, invite, { headers });
    expect([status, new URL(json.url).origin]).toEqual([201, app.app.origin]);
  });

  test("changes nothing by a cookie, whatever the Origin", async () => {
    for (const origin of [app.app.origin, app.origin, "https://elsewhere.invalid"])
      expect((await rename(app, { cookie, host: "evil.invalid", origin })).status).toBe(403);
    expect((await rename(app, { cookie, origin: app.origin })).status).toBe(200);
  });
});

test("after BASE_URL has changed, links, redirects, sessions and the documentation are of the new address", async () => {
  const target = await createDatabase();
  const [before, after] = ["http://first.test", "https://second.test"];
  const first = await startTestApp({ target, env: { BASE_URL: before } });
  const { id } = (await first.post("/account/users.json", { user: { login: "invited" } })).json;
  const invite = async (app: TestApp) =>
    new URL((await app.post(`/account/users/${id}/invitation.json`, { invitation: { days: 1 } })).json.url);
  const invitation = await invite(first);
  const cookie = await signIn(first, { host: "first.test", origin: before });
  expect([invitation.origin, (await first.get("/openapi.json")).json.servers]).toEqual([before, [{ url: before }]]);
  await first.stop();

  const second = await startTestApp({ target, env: { BASE_URL: after } });
  const host = "second.test";
  const get = (path: string, headers: Record<string, string> = {}) =>
    second.get(path, { token: null, headers: { host, ...headers } });
  expect((await get("/openapi.json")).json.servers).toEqual([{ url: after }]);
  const docs = (await get("/docs")).text;
  expect([docs.includes(`${after}/core/prompts.json`), docs.includes("first.test")]).toEqual([true, false]);
  // A browser does not send the old cookie to another host; whoever moves it there is who they were.
  expect((await get("/account/me.json", { cookie })).json).toMatchObject({ account: { base_url: after } });
  for (const [origin, status] of [
    [after, 200],
    [before, 403],
    ["http://second.test", 403],
  ] as const)
    expect([origin, (await rename(second, { host, cookie, origin })).status]).toEqual([origin, status]);
  // An invitation that was sent before opens at the new address, and the new one names it.
  const opened = await get(`${invitation.pathname}${invitation.search}`);
  expect([opened.status, opened.headers.get("location")]).toEqual([303, "/"]);
  expect(opened.headers.get("set-cookie")).toMatch(/^__Host-core_session=.*; Secure/);
  expect((await get("/")).headers.get("location")).toBe("/login");
  expect((await invite(second)).origin).toBe(after);
  await second.stop();
});
