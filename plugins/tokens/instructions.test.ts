import { afterAll, beforeAll, expect, test } from "bun:test";
import { adminToken, startTestApp, type TestApp } from "../../tests/harness.ts";
import instructions from "./prompts/api_tokens_api.md" with { type: "text" };

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

interface Command {
  readonly method: string;
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: string | undefined;
}

/** The curl commands of the prompt, as an agent would run them. */
function commandsIn(text: string): Command[] {
  const lines = text.replaceAll("\\\n", " ").split("\n");
  return lines
    .filter((line) => line.startsWith("curl "))
    .map((line) => ({
      method: /-X (\w+)/.exec(line)?.[1] ?? "GET",
      url: /http:\S+/.exec(line)?.[0] ?? "",
      headers: Object.fromEntries([...line.matchAll(/-H "([^:]+): ([^"]+)"/g)].map(([, name, value]) => [name, value])),
      body: /-d '([^']+)'/.exec(line)?.[1],
    }));
}

test("every command of the instructions does what they say", async () => {
  const filled = instructions.replaceAll("{{ ACCOUNT_URL }}", app.origin).replaceAll("{{ TOKEN }}", adminToken);
  expect(filled).not.toContain("{{");
  const commands = commandsIn(filled);
  const statuses: [string, number][] = [];
  // The instructions say 7.
  const { id } = (await app.post("/account/api_tokens.json", { api_token: {} })).json;
  for (const { method, url, headers, body } of commands) {
    const answer = await fetch(url.replace("/7.", `/${id}.`), { method, headers, ...(body && { body }) });
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
