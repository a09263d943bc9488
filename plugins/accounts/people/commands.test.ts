/** The commands of the command line, their refusals and what they leave in the database. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { otherAccount, person, startTestApp, type OtherAccount, type TestApp } from "../../../tests/harness.ts";
import { follower, traces } from "../../../tests/traces.ts";
import { plugins } from "../../index.ts";
import { accounts } from "../api.ts";

let app: TestApp;
let other: OtherAccount;
let login = "";
const password = "the first password";
beforeAll(async () => {
  app = await startTestApp({ plugins: [...plugins, follower] });
  other = await otherAccount(app);
  ({ login } = await person(app, { password }));
  await run("account create", { name: "Taken", host: "taken.test" });
});
afterAll(() => app.stop());

const run = async (name: string, options: Record<string, string>, words: string[] = []) => {
  const command = app.app.commands.find((known) => known.name === name);
  if (!command) throw new Error(`there is no command ${name}`);
  return (await command.run(options, words)).join("\n");
};
const signIn = (given: string, headers: Record<string, string> = {}, who = login) =>
  app.post("/account/session.json", { login: who, password: given }, { token: null, headers });

const tables = ["accounts", "users", "api_tokens", "account_sign_in_hosts"];
const named = { name: "Bad" };
const refusals: [command: string, options: Record<string, string>, says: string, words?: string[]][] = [
  ["account create", {}, "corestead account create"],
  ["account create", named, "corestead account create"],
  ["account create", { host: "x.test" }, "corestead account create"],
  ["account create", { ...named, host: "taken.test" }, "has the host taken.test already"],
  ["account create", { ...named, host: "TAKEN.test" }, "has the host taken.test already"],
  ["account create", { ...named, host: "https://taken.test" }, "has the host taken.test already"],
  ["account create", { ...named, host: "a b/c" }, "not a host"],
  ["account create", { ...named, host: "ftp://x.test" }, "not a host"],
  ["account create", { ...named, host: "https://x.test/path" }, "not a host"],
  ["account create", { ...named, host: "https://me@x.test" }, "not a host"],
  ["account create", { ...named, host: "x.test", timezone: "Nowhere" }, "time zone"],
  ["account create", { ...named, host: "x.test", timezone: "" }, "time zone"],
  ["account create", { ...named, host: "x.test", locale: "xx" }, "locale"],
  ["account create", { ...named, host: "x.test", locale: "a b" }, "locale"],
  ["user password", {}, "corestead user password"],
  ["user password", { login: "nobody-at-all" }, "nobody in the account Main has the login nobody-at-all"],
  ["user password", { login: "admin", password: "1234567" }, "8 characters"],
  ["user password", { login: "admin", password: "" }, "8 characters"],
  ["user password", { login: "admin", account: "unknown.test" }, "no account has the host unknown.test"],
  ["host release", {}, "corestead host release"],
  ["host release", {}, "nobody has signed in at never.test", ["never.test"]],
];
test.each(refusals)("%s refuses %j: %s", async (name, options, says, ...[words]) => {
  const before = await traces(app, ...tables);
  expect(await run(name, options, words).catch((error: unknown) => error)).toEqual(
    expect.objectContaining({ message: expect.stringContaining(says) }),
  );
  expect(await traces(app, ...tables)).toEqual(before);
});

test("account create fills in what is not given", async () => {
  const lines = await run("account create", {
    name: "Standard",
    host: "Standard.test:8080",
    password: "given by hand",
  });
  expect(lines).toContain("Account Standard: http://standard.test:8080");
  expect(lines).not.toContain("given by hand");
  const [row] = await app.sql`select name, host, timezone, locale from accounts where name = 'Standard'`;
  expect({ ...row }).toEqual({ name: "Standard", host: "standard.test:8080", timezone: "UTC", locale: "en" });
  expect((await signIn("given by hand", { host: "standard.test:8080" }, "admin")).status).toBe(201);
  // The same name in another account is somebody else.
  expect((await signIn("given by hand", {}, "admin")).status).toBe(401);
});

test("of two commands that create an account with one host, one does", async () => {
  const both = ["A", "B"].map((name) => run("account create", { name, host: "race.test" }));
  const ends = await Promise.allSettled(both);
  expect(ends.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  expect(await app.sql`select from accounts where host = 'race.test'`).toHaveLength(1);
  expect(
    await app.sql`select from users u join accounts a on a.id = u.account_id where a.host = 'race.test'`,
  ).toHaveLength(1);
});

test("user password changes the person of the named account, and one event tells of it", async () => {
  const [before, theirs] = [await traces(app, "users"), await person(app, { of: other, login, password })];
  expect(await traces(app, "users")).not.toEqual(before);
  const events = Number((await traces(app))["events"]);
  expect(
    await run("user password", { login: login.toUpperCase(), account: other.host, password: "a second one" }),
  ).toBe(`${login.toUpperCase()} has the new password`);
  expect(Number((await traces(app))["events"])).toBe(events + 1);
  expect((await signIn("a second one", { host: other.host })).status).toBe(201);
  expect((await signIn(password)).status).toBe(201);
  expect((await signIn("a second one")).status).toBe(401);
  expect(theirs.id).toBeGreaterThan(0);
});

test("host release lets a host at which people have signed in go, once", async () => {
  const host = "signed-in.test";
  const isReserved = () => app.sql.begin((tx) => app.service(accounts).isReservedHost(host, tx));
  expect(await isReserved()).toBe(false);
  await app.sql`insert into account_sign_in_hosts (account_id, host) values (1, ${host})`;
  expect(await isReserved()).toBe(true);
  expect(await run("host release", {}, ["Signed-In.test:443"])).toContain("Signed-In.test");
  expect(await isReserved()).toBe(false);
  expect(run("host release", {}, [host])).rejects.toThrow("nobody has signed in");
});
