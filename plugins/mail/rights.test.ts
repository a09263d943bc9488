/** A link in a mail is a key, so the privilege `mails` alone decides neither where such mails go nor what they say. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { person, startTestApp, type TestApp } from "../../tests/harness.ts";

let app: TestApp;
let tokens: readonly string[];
const server = { url: "smtp://127.0.0.1:2", from: "evil@example.com" };
const words = { code: "password_reset", language: "en", subject: "Hello", text: "{{ link }}" };
const harmless = { ...words, code: "password_changed", text: "Your password is new." };

beforeAll(async () => {
  app = await startTestApp();
  const granted = await person(app, { privileges: ["mails"] });
  const narrowed = await person(app, { role: "admin", narrowedTo: ["mails"] });
  tokens = [granted.token, narrowed.token];
});
afterAll(() => app.stop());

test("the server is chosen by administrators alone", async () => {
  for (const token of tokens) {
    const chosen = await app.patch("/core/mail_server.json", { mail_server: server }, { token });
    const forgotten = await app.delete("/core/mail_server.json", { token });
    expect([chosen.status, forgotten.status]).toEqual([403, 403]);
    expect((await app.get("/core/mail_server.json", { token })).json).toMatchObject({ source: null, url: null });
  }
  expect((await app.patch("/core/mail_server.json", { mail_server: server })).status).toBe(200);
});

test("the words of a mail with a link are written by administrators alone, others by all with `mails`", async () => {
  const path = "/core/mail_templates";
  const { id } = (await app.post(`${path}.json`, { mail_template: words })).json;
  for (const token of tokens) {
    const made = await app.post(`${path}.json`, { mail_template: { ...words, language: "pl" } }, { token });
    const changed = await app.patch(`${path}/${id}.json`, { mail_template: { subject: "Your prize" } }, { token });
    // Not by way of another mail either.
    const left = await app.patch(`${path}/${id}.json`, { mail_template: harmless }, { token });
    const deleted = await app.delete(`${path}/${id}.json`, { token });
    expect([made.status, changed.status, left.status, deleted.status]).toEqual([403, 403, 403, 403]);
    const other = await app.post(`${path}.json`, { mail_template: harmless }, { token });
    expect(other.status).toBe(201);
    const turned = await app.patch(`${path}/${other.json.id}.json`, { mail_template: words }, { token });
    expect(turned.status).toBe(403);
    expect((await app.delete(`${path}/${other.json.id}.json`, { token })).status).toBe(204);
  }
  expect((await app.get(`${path}/${id}.json`)).json.subject).toBe("Hello");
});
