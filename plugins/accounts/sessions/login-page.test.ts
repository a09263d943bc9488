import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { person, startTestApp, type TestApp } from "../../../tests/harness.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

const password = "a password of theirs";
const me = "/account/me.json";
const submit = (fields: Record<string, string>, headers: Record<string, string> = {}) =>
  app.request("POST", "/login", undefined, {
    token: null,
    raw: new URLSearchParams(fields).toString(),
    headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
  });
const cookieOf = (answer: { headers: Headers }) => (answer.headers.get("set-cookie") ?? "").split(";")[0] ?? "";

describe("the sign-in page", () => {
  test("is plain HTML with its own style only, by hash", async () => {
    const page = await app.get("/login", { token: null });
    expect(page.status).toBe(200);
    expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(page.headers.get("cache-control")).toBe("no-store");
    const policy = page.headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain("unsafe");
    const style = /<style>([^]*)<\/style>/.exec(page.text)?.[1] ?? "";
    const hash = new Bun.CryptoHasher("sha256").update(style).digest("base64");
    expect(policy).toContain(`style-src 'sha256-${hash}'`);
    expect(page.text).not.toMatch(/<script|\sstyle=|\son\w+=/);
    for (const name of ["login", "password"]) expect(page.text).toContain(`<label for="${name}">`);
  });

  test("signs in and goes back to where one came from", async () => {
    const { id, login } = await person(app, { password });
    const page = await app.get("/login?return_to=%2Fa%2Fapp%3Fx%3D1%26y%3D2", { token: null });
    expect(page.text).toContain('name="return_to" value="/a/app?x=1&amp;y=2"');
    const answer = await submit(
      { login, password, return_to: "/a/app?x=1&y=2" },
      { origin: app.origin, "sec-fetch-site": "same-origin" },
    );
    expect([answer.status, answer.headers.get("location")]).toEqual([303, "/a/app?x=1&y=2"]);
    expect(answer.headers.get("set-cookie")).toContain("HttpOnly; SameSite=Lax");
    expect((await app.get(me, { token: null, headers: { cookie: cookieOf(answer) } })).json.id).toBe(id);
  });

  test("shows what was wrong and keeps the login, not the password", async () => {
    const login = `"><script>alert(1)</script>`;
    const answer = await submit({ login, password: "wrong-secret", return_to: "/x" });
    expect(answer.status).toBe(401);
    expect(answer.headers.get("content-type")).toContain("text/html");
    expect(answer.text).toContain('role="alert"');
    expect(answer.text).toContain('value="&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;"');
    expect(answer.text).not.toContain("<script");
    expect(answer.text).not.toContain("wrong-secret");
    expect(answer.text).toContain('name="return_to" value="/x"');
  });

  test.each([[{}], [{ login: "admin" }], [{ password: "x" }], [{ login: "  ", password: "x" }]])(
    "asks for both fields: %j",
    async (fields) => {
      const answer = await submit(fields);
      expect([answer.status, answer.text.includes("Fill in both fields.")]).toEqual([422, true]);
    },
  );

  test("does no harm with odd input", async () => {
    expect((await submit({ login: "a\0b", password: "x" })).status).toBe(401);
    expect((await submit({ login: "x".repeat(10_000), password: "x" })).status).toBe(401);
    expect((await submit({ login: "admin", password: "x".repeat(10_000) })).status).toBe(401);
    expect((await submit({ login: "admin", password: "wrong", return_to: "//evil.com" })).text).toContain(
      'name="return_to" value="/"',
    );
    expect((await submit({ ["__proto__"]: "x", constructor: "y" })).status).toBe(422);
  });

  test("is slowed down, and says for how long", async () => {
    const { login } = await person(app, { password });
    for (let at = 0; at < 5; at++) expect((await submit({ login, password: "wrong" })).status).toBe(401);
    const blocked = await submit({ login, password });
    expect(blocked.status).toBe(429);
    expect(Number(blocked.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
    expect(blocked.text).toMatch(/Try again in \d+ second/);
    await app.sql`delete from sign_in_failures`;
  });

  test("is not for other sites to post to", async () => {
    const { login } = await person(app, { password });
    for (const headers of [{ origin: "https://evil.com" }, { "sec-fetch-site": "cross-site" }, { origin: "null" }]) {
      const answer = await submit({ login, password }, headers);
      expect([answer.status, answer.headers.get("set-cookie")]).toEqual([403, null]);
    }
  });

  test("never goes on to another host", async () => {
    const { login } = await person(app, { password });
    for (const return_to of ["https://evil.com", "//evil.com", "/\\evil.com", "/.//evil.com"])
      expect((await submit({ login, password, return_to })).headers.get("location")).toBe("/");
  });

  test("lets whoever is signed in go on at once", async () => {
    const { login } = await person(app, { password });
    const cookie = cookieOf(await submit({ login, password }));
    const answer = await app.get("/login?return_to=/a/app", { token: null, headers: { cookie } });
    expect([answer.status, answer.headers.get("location")]).toEqual([303, "/a/app"]);
  });
});

describe("in Polish and German", () => {
  test.each([
    [{ "accept-language": "pl-PL,pl;q=0.9" }, "pl", "Zaloguj się", "Hasło", "Wypełnij oba pola."],
    [{ "accept-language": "de" }, "de", "Anmelden", "Passwort", "Bitte beide Felder ausfüllen."],
    [{ "accept-language": "pl", cookie: "core_language=de" }, "de", "Anmelden", "Passwort", "Bitte beide Felder"],
    [{ "accept-language": "fr" }, "en", "Sign in", "Password", "Fill in both fields."],
  ])("%o is %s", async (headers, language, title, label, mistake) => {
    const { text } = await app.get("/login", { token: null, headers });
    for (const part of [`<html lang="${language}">`, `<h1>${title}</h1>`, `>${label}</label>`])
      expect(text).toContain(part);
    expect((await submit({}, headers)).text).toContain(mistake);
  });

  test("each refusal of the form is told", async () => {
    const headers = { "accept-language": "pl" };
    expect((await submit({ login: "admin", password: "wrong" }, headers)).text).toContain("Nieprawidłowy login");
    const elsewhere = await submit({ login: "admin", password }, { ...headers, origin: "https://evil.com" });
    expect(elsewhere.text).toContain("Odmowa: to logowanie nie pochodzi ze stron tego serwera (");
    const { login } = await person(app, { password });
    for (let at = 0; at < 5; at++) await submit({ login, password: "wrong" }, headers);
    expect((await submit({ login, password }, headers)).text).toMatch(/Spróbuj ponownie za \d+ sekund[ęy]?\./);
    await app.sql`delete from sign_in_failures`;
  });

  test("so is signing out", async () => {
    const { login } = await person(app, { password });
    const cookie = cookieOf(await submit({ login, password }));
    const page = await app.get("/logout", { token: null, headers: { cookie, "accept-language": "de" } });
    expect(page.text).toContain(`<p>Sie sind als ${login} angemeldet.</p>`);
    expect(page.text).toContain(">Abmelden</button>");
  });

  test("an invitation that works no more leads to a page that says so", async () => {
    const open = async (path: string, language: string) =>
      (await fetch(`${app.origin}${path}`, { headers: { accept: "text/html", "accept-language": language } })).text();
    const page = await open("/account/auto_login?token=core_old", "pl");
    expect(page).toContain('<html lang="pl">');
    expect(page).toContain("Ten odnośnik już nie działa");
    expect(page).toContain('href="/login?return_to=%2F"');
    expect(await open("/nowhere", "de")).toContain("Unter dieser Adresse gibt es nichts.");
  });
});

describe("signing out by the page", () => {
  test("ends the session and goes to the sign-in page", async () => {
    const { login } = await person(app, { password });
    const cookie = cookieOf(await submit({ login, password }));
    const logout = (headers: Record<string, string>) =>
      app.request("POST", "/logout", undefined, { token: null, headers, raw: "" });
    expect((await logout({ cookie, origin: "https://evil.com" })).status).toBe(403);
    expect((await logout({ cookie })).status).toBe(403);
    const out = await logout({ cookie, origin: app.origin });
    expect([out.status, out.headers.get("location")]).toEqual([303, "/login"]);
    expect(out.headers.get("set-cookie")).toContain("Max-Age=0");
    expect((await app.get(me, { token: null, headers: { cookie } })).status).toBe(401);
    expect((await logout({})).status).toBe(303);
    expect((await app.get("/logout", { token: null })).status).toBe(303);
  });
});

test("an account is called by its own name everywhere, and its sign-in page has its logo and colour", async () => {
  const logo = "019a9c1e-0000-7000-8000-000000000009";
  const settings = { brand_name: "Example <Tea> Co", brand_logo: logo, brand_hue: "25", brand_chroma: "0.13" };
  expect((await app.patch("/account/settings.json", { settings })).status).toBe(200);
  const page = await app.get("/login", { token: null });
  expect(page.text).toContain(`<img class="logo" src="/media/${logo}/logo" alt="">Example &lt;Tea&gt; Co`);
  const style = /<style>([^]*)<\/style>/.exec(page.text)?.[1] ?? "";
  expect(style).toEndWith(":root { --brand-h: 25; --brand-c: 0.13 }\n");
  const hash = new Bun.CryptoHasher("sha256").update(style).digest("base64");
  expect(page.headers.get("content-security-policy")).toContain(`style-src 'sha256-${hash}'`);
  expect((await app.get(me)).json.account.name).toBe("Example <Tea> Co");
  const wrong = await app.patch("/account/settings.json", { settings: { brand_name: " a\nb" } });
  expect([wrong.status, Object.keys(wrong.json)]).toEqual([422, ["brand_name"]]);
  await app.patch("/account/settings.json", { settings: { brand_name: null, brand_logo: null } });
  expect((await app.get(me)).json.account.name).toBe("Main");
});
