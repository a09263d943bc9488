import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { migrate } from "../../../runtime/db/migrate.ts";
import { openPool } from "../../../runtime/db/db.ts";
import { createLog } from "../../../runtime/system/log.ts";
import { adminPassword, createDatabase, otherAccount, person, startTestApp } from "../../../tests/harness.ts";
import type { OtherAccount, TestApp } from "../../../tests/harness.ts";
import accountsMigration from "../../accounts/migrations/001_accounts.sql" with { type: "text" };
import first from "../migrations/001_cms.sql" with { type: "text" };
import second from "../migrations/002_domain_status.sql" with { type: "text" };

let app: TestApp;
let other: OtherAccount;
let third: OtherAccount;
const txt = new Map<string, string[]>();
beforeAll(async () => {
  app = await startTestApp({
    env: { BASE_URL: "https://core.example.test:8443" },
    names: { addresses: async () => ["127.0.0.1"], txt: async (name) => txt.get(name) ?? [] },
  });
  await app.post("/cms/sites.json", { site: { code: "main", name: "Main" } });
  await app.post("/cms/domains.json", { domain: { name: "early.test", site_code: "main" } });
  [other, third] = [await otherAccount(app), await otherAccount(app)];
  for (const [index, one] of [app, other, third].entries()) {
    const code = ["main", "other", "third"][index];
    if (index > 0) await one.post("/cms/sites.json", { site: { code, name: code } });
    await one.post("/cms/pages.json", {
      page: { code: "home", path: "home", site_code: code, content: `home of ${code}` },
    });
  }
});
afterAll(() => app.stop());

const add = (of: Pick<TestApp, "post">, name: string) => {
  const site_code = of === other ? "other" : of === third ? "third" : "main";
  return of.post("/cms/domains.json", { domain: { name, site_code } });
};
const home = async (host: string) => {
  const { status, text } = await app.request("GET", "/home", undefined, { token: null, headers: { host } });
  return status === 200 && text.startsWith("home") ? text : "nothing";
};
const verify = (of: Pick<TestApp, "post">, name: string) => of.post(`/cms/domains/${name}/verify.json`, {});

test("a domain that was made while there was one account is served, and stays so", async () => {
  const { json } = await app.get("/cms/domains/early.test.json");
  expect([json.status, json.verification, await home("early.test")]).toEqual(["approved", null, "home of main"]);
  expect((await verify(app, "early.test")).json.status).toBe("approved");
});

test("with several accounts it is pending and serves nothing, until a TXT record proves it", async () => {
  const made = await add(other, "txt.test:8080");
  const { verification } = made.json;
  expect([made.status, made.json.status, verification.txt_name]).toEqual([201, "pending", "_corestead.txt.test"]);
  expect(verification.txt_value).toMatch(/^corestead-domain=[\w-]{20,}$/);
  expect(await home("txt.test:8080")).toBe("nothing");
  for (const records of [[], ["corestead-domain=another"], [`${verification.txt_value}x`]]) {
    txt.set("_corestead.txt.test", records);
    const refused = await verify(other, "txt.test:8080");
    expect([refused.status, Object.keys(refused.json)]).toEqual([422, ["name"]]);
    expect(await home("txt.test:8080")).toBe("nothing");
  }
  txt.set("_corestead.txt.test", ["v=spf1 -all", verification.txt_value]);
  const proved = await verify(other, "txt.test:8080");
  expect([proved.status, proved.json.status, proved.json.verification]).toEqual([200, "approved", null]);
  expect(await home("txt.test:8080")).toBe("home of other");
});

test("a file under /.well-known/ proves it too, and no redirect or other text does", async () => {
  let answer = new Response("", { status: 404 });
  const asked: string[] = [];
  const web = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request) => {
      asked.push(`${request.headers.get("host")} ${new URL(request.url).pathname}`);
      return answer.clone();
    },
  });
  const name = `file.test:${web.port}`;
  const { verification } = (await add(other, name)).json;
  expect(verification.file_url).toBe(`http://${name}/.well-known/corestead-domain.txt`);
  const wrong = [
    new Response(verification.file_content, { status: 404 }),
    new Response(`<p>${verification.file_content}</p>`),
    new Response(null, { status: 302, headers: { location: "/elsewhere" } }),
    new Response("x".repeat(100_000)),
  ];
  for (const one of wrong) {
    answer = one;
    expect((await verify(other, name)).status).toBe(422);
  }
  answer = new Response(`${verification.file_content}\n`);
  expect((await verify(other, name)).json.status).toBe("approved");
  expect(new Set(asked)).toEqual(new Set([`${name} /.well-known/corestead-domain.txt`]));
  await web.stop(true);
});

describe("a pending domain", () => {
  test("leaves the host to whoever proves it first", async () => {
    const [ours, theirs] = [await add(other, "both.test"), await add(third, "both.test")];
    expect([ours.status, theirs.status]).toEqual([201, 201]);
    expect(ours.json.verification.txt_value).not.toBe(theirs.json.verification.txt_value);
    txt.set("_corestead.both.test", [ours.json.verification.txt_value, theirs.json.verification.txt_value]);
    const answers = await Promise.all([verify(other, "both.test"), verify(third, "both.test")]);
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 422]);
    const loser = answers.find(({ status }) => status === 422);
    expect(loser?.json).toEqual({ name: ["is already taken"] });
    expect((await add(app, "both.test")).json).toEqual({ name: ["is already taken"] });
    const again = await add(other, "both.test");
    expect([again.status, again.json]).toEqual([422, { name: ["is already taken"] }]);
  });

  test("is told twice in no account, and proved by its own account alone", async () => {
    expect((await add(other, "twice.test")).status).toBe(201);
    expect((await add(other, "twice.test")).json).toEqual({ name: ["is already taken"] });
    expect((await verify(third, "twice.test")).status).toBe(404);
    const { token } = await person(app, { role: "user" });
    expect((await app.post("/cms/domains/early.test/verify.json", {}, { token })).status).toBe(403);
  });

  test("is approved by the operator, who names the account where several wait", async () => {
    await add(other, "waiting.test");
    await app.approve("waiting.test");
    expect(await home("waiting.test")).toBe("home of other");
    await add(other, "several.test");
    await add(third, "several.test");
    const approve = app.app.commands.find(({ name }) => name === "domain approve");
    const run = (words: string[], options = {}) =>
      approve?.run(options, words).then(String, (error: Error) => error.message);
    expect(await run(["several.test"])).toContain("--account HOST");
    expect(await run(["several.test"], { account: third.host })).toContain("several.test is approved");
    expect(await home("several.test")).toBe("home of third");
    expect(await run(["several.test"])).toContain("422");
    expect(await run(["nobody.test"])).toBe("no domain nobody.test is pending");
    expect(await run([])).toContain("name the domain:");
  });

  test("gives way to an account that is made at its host, and is then never approved", async () => {
    await add(third, "later.test");
    const create = app.app.commands.find(({ name }) => name === "account create");
    await create?.run({ name: "Later", host: "later.test" });
    const row = (await third.get("/cms/domains/later.test.json")).json;
    txt.set("_corestead.later.test", [row.verification.txt_value]);
    expect((await verify(third, "later.test")).json).toEqual({ name: ["is the address of an account"] });
  });

  test("is what a domain becomes with another name", async () => {
    await add(other, "renamed.test");
    await app.approve("renamed.test");
    const moved = await other.patch("/cms/domains/renamed.test.json", { domain: { name: "moved.test" } });
    expect([moved.json.status, await home("renamed.test"), await home("moved.test")]).toEqual([
      "pending",
      "nothing",
      "nothing",
    ]);
    await app.approve("moved.test");
    const same = await other.patch("/cms/domains/moved.test.json", { domain: { name: "moved.test", locale: "en" } });
    expect([same.json.status, await home("moved.test")]).toEqual(["approved", "home of other"]);
  });
});

describe("no site takes a host", () => {
  const refused = async (name: string) => {
    const answer = await add(other, name);
    return [name, answer.status, Object.keys(answer.json)];
  };
  test("of an account, with or without a port", async () => {
    const own = ["core.example.test", "core.example.test:8443", "core.example.test:1"];
    for (const name of [...own, other.host.toUpperCase(), `${third.host}:80`])
      expect(await refused(name)).toEqual([name, 422, ["name"]]);
  });

  test("at which people have signed in, by the API, the page or a link", async () => {
    const credentials = { login: "admin", password: adminPassword };
    const headers = (host: string) => ({ headers: { host }, token: null });
    const api = await app.post("/account/session.json", credentials, headers("api.company.test:3000"));
    const page = await app.request("POST", "/login", undefined, {
      token: null,
      raw: new URLSearchParams(credentials),
      headers: { host: "page.company.test", "content-type": "application/x-www-form-urlencoded" },
    });
    const body = { api_token: { name: "link", kind: "web_token" } };
    const { token } = (await app.post("/account/api_tokens.json", body)).json;
    const link = await app.get(`/account/auto_login?token=${token}`, headers("link.company.test"));
    expect([api.status, page.status, link.status]).toEqual([201, 303, 303]);
    for (const name of ["api.company.test", "api.company.test:80", "page.company.test", "link.company.test"])
      expect(await refused(name)).toEqual([name, 422, ["name"]]);
    // Whoever only tries keeps nobody from a host.
    const wrong = await app.post("/account/session.json", { login: "nobody", password: "x" }, headers("tried.test"));
    expect([wrong.status, (await refused("tried.test"))[1]]).toEqual([401, 201]);
  });

  test("until the operator releases one of those", async () => {
    const release = app.app.commands.find(({ name }) => name === "host release");
    expect((await refused("page.company.test"))[1]).toBe(422);
    await release?.run({}, ["page.company.test"]);
    expect((await refused("page.company.test"))[1]).toBe(201);
    expect(release?.run({}, ["page.company.test"])).rejects.toThrow("nobody has signed in");
  });

  test("where somebody signs in while it waits for its proof", async () => {
    const { verification } = (await add(other, "meanwhile.test")).json;
    txt.set("_corestead.meanwhile.test", [verification.txt_value]);
    const signedIn = await app.post(
      "/account/session.json",
      { login: "admin", password: adminPassword },
      { token: null, headers: { host: "meanwhile.test" } },
    );
    expect(signedIn.status).toBe(201);
    expect((await verify(other, "meanwhile.test")).json).toEqual({ name: ["is the address of an account"] });
  });
});

test("domains that stood before stay approved", async () => {
  const target = await createDatabase();
  const sql = openPool(target, { max: 1 });
  const log = createLog("error");
  const accounts = { plugin: "accounts", migrations: [{ name: "001_accounts", sql: accountsMigration }] };
  const cms = (migrations: { name: string; sql: string }[]) => ({ plugin: "cms-multilang", migrations });
  await migrate(sql, [accounts, cms([{ name: "001_cms", sql: first }])], log);
  const [account] = await sql<{ id: number }[]>`
    insert into accounts (name, timezone, locale) values ('Old', 'UTC', 'en') returning id`;
  const accountId = account?.id ?? 0;
  const [site] = await sql<{ id: number }[]>`
    insert into cms_sites (account_id, code, name, locale) values (${accountId}, 's', 's', 'en') returning id`;
  await sql`insert into cms_domains (account_id, site_id, name) values (${accountId}, ${site?.id ?? 0}, 'old.test')`;
  const later = { name: "002_domain_status", sql: second };
  await migrate(sql, [accounts, cms([{ name: "001_cms", sql: first }, later])], log);
  expect([...(await sql`select name, status from cms_domains`)]).toEqual([{ name: "old.test", status: "approved" }]);
  await sql.end();
});
