import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  adminPassword,
  adminToken,
  createDatabase,
  otherAccount,
  person,
  startTestApp,
  type TestApp,
} from "../../../tests/harness.ts";
import { boot } from "../../../runtime/operations/start/boot.ts";
import { readConfig } from "../../../runtime/settings/config.ts";
import { createLog } from "../../../runtime/system/log.ts";
import { plugins } from "../../index.ts";
import { hostNames } from "./access.ts";
import { accounts } from "../api.ts";
import { addressOf } from "./commands.ts";

const me = "/account/me.json";

describe("on an empty database", () => {
  const start = async (target: Awaited<ReturnType<typeof createDatabase>>, settings: Record<string, string>) => {
    const lines: string[] = [];
    const env = { PORT: "0", SECRET_KEY: "a secret key of the tests, 32 characters or more", ...settings };
    const app = await boot({
      config: readConfig(env),
      env,
      plugins,
      target,
      log: createLog("error", () => {}),
      role: "serve",
      solo: false,
      announce: (announced) => lines.push(...announced),
    });
    return { app, lines };
  };
  const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

  test("a password and a token are made up, work, and are shown once", async () => {
    const target = await createDatabase();
    const { app, lines } = await start(target, {
      CORE_ADMIN_LOGIN: "boss",
      CORE_TIMEZONE: "Europe/Warsaw",
      CORE_LOCALE: "pl",
    });
    const [, password = ""] = /^Administrator: boss, password: (\S+)$/m.exec(lines.join("\n")) ?? [];
    const [, token = ""] = /^API token: (core_[0-9A-Za-z]{42})$/m.exec(lines.join("\n")) ?? [];
    const shown = await (await fetch(`${app.origin}${me}`, bearer(token))).json();
    expect(shown).toMatchObject({ login: "boss", role: "admin", account: { timezone: "Europe/Warsaw", locale: "pl" } });
    const body = JSON.stringify({ login: "boss", password });
    const signedIn = await fetch(`${app.origin}/account/session`, {
      method: "POST",
      body,
      headers: { "content-type": "application/json" },
    });
    expect(signedIn.status).toBe(201);
    await app.stop();
    const again = await start(target, { CORE_ADMIN_LOGIN: "another", CORE_ADMIN_PASSWORD: "another password" });
    expect(again.lines).toEqual([]);
    expect((await fetch(`${again.app.origin}${me}`, bearer(token))).status).toBe(200);
    await again.app.stop();
  });

  test("what the settings give is not shown", async () => {
    const settings = {
      CORE_ADMIN_PASSWORD: "a password that was given",
      CORE_ADMIN_TOKEN: "core_a-given_token.of/any+form",
    };
    const { app, lines } = await start(await createDatabase(), settings);
    expect(lines.join("\n")).not.toContain("given");
    expect(lines.join("\n")).not.toContain("core_");
    expect((await fetch(`${app.origin}${me}`, bearer(settings.CORE_ADMIN_TOKEN))).status).toBe(200);
    await app.stop();
  });
});

describe("the account of a request", () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startTestApp({ env: { BASE_URL: "https://Core.example.com" } });
  });
  afterAll(() => app.stop());
  const accountAt = async (host: string, token: string | null = null) => {
    const answer = await app.get(me, { token, headers: { host } });
    return answer.status === 200 ? answer.json.account.id : answer.status;
  };

  test("is that of the host, with or without a port, else that of the credential", async () => {
    const other = await otherAccount(app);
    for (const host of [other.host, `${other.host}:8080`, other.host.toUpperCase()]) {
      expect(await accountAt(host, other.adminToken)).toBe(other.id);
      expect(await accountAt(host, adminToken)).toBe(401);
    }
    for (const host of ["core.example.com", "core.example.com:443"]) {
      expect(await accountAt(host, adminToken)).toBe(1);
      expect(await accountAt(host, other.adminToken)).toBe(401);
    }
    for (const host of ["elsewhere.example.com", "localhost:3000", "x".repeat(3000)]) {
      expect(await accountAt(host, adminToken)).toBe(1);
      expect(await accountAt(host, other.adminToken)).toBe(other.id);
    }
  });

  test("is found for a host that had none when it was first asked for", async () => {
    const { host } = await otherAccount(app);
    const number = Number(/\d+/.exec(host)?.[0]) + 1;
    const { accountForHost } = app.service(accounts);
    expect(await accountForHost(`other-${number}.test`)).toBeUndefined();
    const next = await otherAccount(app);
    expect(next.host).toBe(`other-${number}.test`);
    expect((await accountForHost(next.host))?.id).toBe(next.id);
  });

  test("keeps sign-ins apart", async () => {
    const other = await otherAccount(app);
    const theirs = await person(app, { of: other, login: "only-there", password: "a password there" });
    const body = { login: theirs.login, password: "a password there" };
    expect((await other.post("/account/session.json", body, { token: null })).status).toBe(201);
    expect((await app.post("/account/session.json", body, { token: null })).status).toBe(401);
    const admin = { login: "admin", password: adminPassword };
    expect((await other.post("/account/session.json", admin, { token: null })).status).toBe(401);
  });
});

describe("commands", () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startTestApp();
  });
  afterAll(() => app.stop());
  const run = async (name: string, options: Record<string, string>) => {
    const command = app.app.commands.find((known) => known.name === name);
    return (await command?.run(options))?.join("\n") ?? "";
  };

  test("account create makes an account whose administrator can sign in", async () => {
    const lines = await run("account create", {
      name: "Two",
      host: "https://two.example.com",
      timezone: "Asia/Tokyo",
      login: "chief",
    });
    const [, password] = /Administrator: chief, password: (\S+)/.exec(lines) ?? [];
    const [, token = ""] = /API token: (\S+)/.exec(lines) ?? [];
    const headers = { host: "two.example.com" };
    const shown = await app.get(me, { token, headers });
    expect(shown.json.account).toMatchObject({
      name: "Two",
      base_url: "https://two.example.com",
      timezone: "Asia/Tokyo",
    });
    expect(
      (await app.post("/account/session.json", { login: "chief", password }, { token: null, headers })).status,
    ).toBe(201);
  });

  test("user password sets a password and ends the person's sessions", async () => {
    const { login } = await person(app, { password: "the first password" });
    const before = await app.post("/account/session.json", { login, password: "the first password" }, { token: null });
    const cookie = before.headers.get("set-cookie")?.split(";")[0] ?? "";
    const lines = await run("user password", { login });
    const [, password] = /: (\S+)$/.exec(lines) ?? [];
    expect((await app.get(me, { token: null, headers: { cookie } })).status).toBe(401);
    expect((await app.post("/account/session.json", { login, password }, { token: null })).status).toBe(201);
    expect(await run("user password", { login, password: "given by hand" })).not.toContain("given by hand");
  });
});

test("a host is looked for with its port first", () => {
  expect(hostNames("a.example:3000")).toEqual(["a.example:3000", "a.example"]);
  expect(hostNames("a.example")).toEqual(["a.example"]);
  expect(hostNames("[::1]:80")).toEqual(["[::1]:80", "[::1]"]);
});

test("an address is made from a host; a given address is kept", () => {
  expect(addressOf("Two.example.com", "https:")).toEqual({
    host: "two.example.com",
    baseUrl: "https://two.example.com",
  });
  expect(addressOf("two.test:8080", "http:")).toEqual({ host: "two.test:8080", baseUrl: "http://two.test:8080" });
  expect(addressOf("http://two.test/", "https:")).toEqual({ host: "two.test", baseUrl: "http://two.test" });
  for (const bad of ["", "two/three", "ftp://two.test", "https://two.test/path", "u:p@two.test", "two.test?x"])
    expect(() => addressOf(bad, "http:")).toThrow("not a host");
});
