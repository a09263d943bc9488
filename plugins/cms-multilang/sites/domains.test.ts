import { afterAll, beforeAll, expect, test } from "bun:test";
import { eventually, otherAccount, startTestApp, type TestApp } from "../../../tests/harness.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ env: { BASE_URL: "https://main.example.com" } });
});
afterAll(() => app.stop());

let sites = 0;
async function newSite(): Promise<string> {
  const code = `site-${++sites}`;
  expect((await app.post("/cms/sites.json", { site: { code, name: code } })).status).toBe(201);
  return code;
}

const add = (site_code: string, name: string, fields: object = {}) =>
  app.post("/cms/domains.json", { domain: { name, site_code, ...fields } });
const primaries = async (site: string) =>
  (await app.get(`/cms/domains.json?site_code=${site}`)).json
    .filter((domain: { primary: boolean }) => domain.primary)
    .map((domain: { name: string }) => domain.name);

test("a site has one primary domain: the first, then the one that is made it, then the oldest left", async () => {
  const site = await newSite();
  expect((await add(site, "a.one.test", { primary: false })).json.primary).toBe(true);
  expect((await add(site, "b.one.test")).json.primary).toBe(false);
  expect((await add(site, "c.one.test", { primary: true })).json.primary).toBe(true);
  expect(await primaries(site)).toEqual(["c.one.test"]);
  expect((await app.patch("/cms/domains/b.one.test.json", { domain: { primary: true } })).json.primary).toBe(true);
  expect(await primaries(site)).toEqual(["b.one.test"]);
  const refused = await app.patch("/cms/domains/b.one.test.json", { domain: { primary: false } });
  expect([refused.status, Object.keys(refused.json)]).toEqual([422, ["primary"]]);
  expect((await app.delete("/cms/domains/b.one.test.json")).status).toBe(204);
  expect(await primaries(site)).toEqual(["a.one.test"]);
  expect((await app.delete("/cms/domains/c.one.test.json")).status).toBe(204);
  expect((await app.delete("/cms/domains/a.one.test.json")).status).toBe(204);
  expect((await add(site, "d.one.test")).json.primary).toBe(true);
});

test("it stays one when many are made it at once, or deleted", async () => {
  const site = await newSite();
  const names = Array.from({ length: 6 }, (_, at) => `d${at}.many.test`);
  const made = await Promise.all(names.map((name) => add(site, name, { primary: true })));
  expect(made.map(({ status }) => status)).toEqual(names.map(() => 201));
  expect(await primaries(site)).toHaveLength(1);
  await Promise.all(names.map((name) => app.patch(`/cms/domains/${name}.json`, { domain: { primary: true } })));
  expect(await primaries(site)).toHaveLength(1);
  await Promise.all(names.slice(1).map((name) => app.delete(`/cms/domains/${name}.json`)));
  expect(await primaries(site)).toEqual(["d0.many.test"]);
});

test("a host is one site's in the whole installation", async () => {
  const [one, two] = [await newSite(), await newSite()];
  const taken = { name: ["is already taken"] };
  expect((await add(one, "shared.test")).status).toBe(201);
  expect((await add(two, "Shared.TEST")).json).toEqual(taken);
  expect((await add(one, "shared.test.")).json).toEqual(taken);
  expect((await add(one, "shared.test:8080")).status).toBe(201);
  const both = await Promise.all([add(one, "race.test"), add(two, "race.test")]);
  expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 422]);
  const other = await otherAccount(app);
  await other.post("/cms/sites.json", { site: { code: "theirs", name: "Theirs" } });
  const theirs = await other.post("/cms/domains.json", { domain: { name: "shared.test", site_code: "theirs" } });
  expect([theirs.status, theirs.json]).toEqual([422, taken]);
});

test("an account's own address is no site's", async () => {
  const site = await newSite();
  const other = await otherAccount(app);
  for (const name of [
    "main.example.com",
    "MAIN.example.com:8443",
    other.host,
    `${other.host}:80`,
    new URL(app.origin).host,
    "127.0.0.1",
    "localhost:3000",
    "intranet",
  ]) {
    const answer = await add(site, name);
    expect(`${name} ${answer.status} ${Object.keys(answer.json).join()}`).toBe(`${name} 422 name`);
  }
  await add(site, "fine.test");
  expect((await app.patch("/cms/domains/fine.test.json", { domain: { name: "main.example.com" } })).status).toBe(422);
});

test("a site's host is no new account's, with or without a port", async () => {
  const site = await newSite();
  for (const name of ["kept.test", "ported.test:8080"]) {
    await add(site, name);
    await app.approve(name);
  }
  const create = app.app.commands.find(({ name }) => name === "account create");
  const cases: [string, string | undefined][] = [
    ["kept.test", "kept.test"],
    ["http://KEPT.test.:3000", "kept.test"],
    ["ported.test", "ported.test:8080"],
    ["ported.test:8080", "ported.test:8080"],
    ["ported.test:9090", undefined],
    ["www.kept.test", undefined],
    ["kept_test", undefined],
  ];
  for (const [host, taken] of cases) {
    const made = await create?.run({ name: "New", host }).then(
      () => undefined,
      (error: Error) => error.message,
    );
    expect(`${host}: ${made}`).toBe(`${host}: ${taken && `${taken} is already a site's domain`}`);
  }
  const [rows] = await app.sql`select count(*) as count from accounts where name = 'New'`;
  expect(rows?.["count"]).toBe(3);
});

test("of a domain and an account that are made at one host at once, one is", async () => {
  const site = await newSite();
  const create = app.app.commands.find(({ name }) => name === "account create");
  for (let round = 0; round < 5; round++) {
    const host = `meeting-${round}.test`;
    const account = create?.run({ name: "Meeting", host }).then(
      () => 1,
      () => 0,
    );
    const served = add(site, host)
      .then(() => app.approve(host))
      .then(
        () => 1,
        () => 0,
      );
    const [hasAccount = 0, hasDomain] = await Promise.all([account, served]);
    expect(hasAccount + hasDomain).toBe(1);
  }
});

test("a domain with a port is addressed as it is, or percent-encoded", async () => {
  const site = await newSite();
  await add(site, "Port.test:8080");
  for (const ref of ["port.test:8080", "port.test%3A8080", "PORT.test:8080"])
    expect((await app.get(`/cms/domains/${ref}.json`)).json.name).toBe("port.test:8080");
});

test("a site on the account's own address is not served there, and the log says so", async () => {
  const site = await newSite();
  expect((await add(site, "both.test")).status).toBe(201);
  await app.approve("both.test");
  await app.post("/cms/pages.json", {
    page: { code: "home", path: "", site_code: site, name: "Home", content: "home" },
  });
  const at = (server: TestApp, host: string) =>
    server.request("GET", "/", undefined, { token: null, headers: { host } });
  expect((await at(app, "both.test")).text).toBe("home");
  expect((await at(app, "Both.test.:80")).text).toBe("home");
  const moved = await startTestApp({ target: app.target, env: { BASE_URL: "https://both.test" } });
  expect((await at(moved, "both.test")).text).not.toBe("home");
  expect((await moved.get("/cms/sites.json", { headers: { host: "both.test" } })).status).toBe(200);
  await eventually(() => moved.logged.join().includes("BASE_URL is a site's domain too"));
  await moved.stop();
});
