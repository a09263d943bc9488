import { afterAll, beforeAll, expect, test } from "bun:test";
import { startTestApp, type TestApp } from "../../tests/harness.ts";
import instructions from "./prompts/api_tokens_api.md" with { type: "text" };

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

test("every command of the instructions does what they say", async () => {
  const requests = instructions.matchAll(/^(GET|POST|PATCH|DELETE) (\/\S+)\s?(\{.*\})?$/gm);
  const statuses: [string, number][] = [];
  // The instructions say 7.
  const { id } = (await app.post("/account/api_tokens.json", { api_token: {} })).json;
  for (const [, method = "", path = "", body] of requests) {
    const answer = await app.request(method, path.replace("/7.", `/${id}.`), body && JSON.parse(body));
    statuses.push([method, answer.status]);
  }
  expect(statuses).toEqual([
    ["GET", 200],
    ["GET", 200],
    ["POST", 201],
    ["PATCH", 200],
    ["DELETE", 204],
  ]);
});

test("no address in the instructions carries the token", () => {
  expect(instructions).not.toMatch(/[?&=/]\{\{ *TOKEN/);
});

test("the privileges that the instructions name are those that there are", async () => {
  const [, named = ""] = /^Privileges that exist by default: (.*?)\. /m.exec(instructions) ?? [];
  const { json } = await app.get("/account/privileges.json");
  const names = json.map(({ name }: { name: string }) => `\`${name}\``);
  expect(named.split(", ").toSorted()).toEqual(names.toSorted());
});
