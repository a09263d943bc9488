import { afterAll, beforeAll, expect, test } from "bun:test";
import { startTestApp, type TestApp } from "../../tests/harness.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

test("every example of the built-in prompt works, in its order, and the site that it builds is served", async () => {
  const prompt = await app.get("/core/prompt/cms_api.md");
  expect(prompt.status).toBe(200);
  const examples = [...prompt.text.matchAll(/```\n(GET|POST|PATCH) (\S+)\n([\s\S]*?)```/g)];
  expect(examples.length).toBeGreaterThanOrEqual(14);
  for (const [, method = "", path = "", text = ""] of examples) {
    const answer = await app.request(method, path, text.trim() === "" ? undefined : JSON.parse(text));
    expect(`${method} ${path} ${answer.status} ${answer.text}`).toStartWith(`${method} ${path} 20`);
  }
  const shown = async (host: string, path: string) => {
    const answer = await app.get(path, { token: null, headers: { host } });
    return `${answer.status} ${answer.headers.get("location") ?? answer.text}`;
  };
  const expected: [string, string, string][] = [
    ["acme.example.pl", "/", "<h1>Witamy</h1><p>Od lat</p>"],
    ["acme.example.com", "/", "<h1>Welcome</h1><p>For years</p>"],
    ["acme.example.com", "/what-we-do", "<h1>Offer</h1><p>What we do</p>"],
    ["acme.example.com", "/what-we-do", '<html lang="en">'],
    ["acme.example.com", "/news", '<a href="/news/a-new-office">A new office</a>'],
    ["acme.example.com", "/news/a-new-office", "<h1>A new office</h1><p>Come and see us.</p>"],
    ["acme.example.pl", "/news", "Nothing yet."],
  ];
  for (const [host, path, part] of expected) expect(await shown(host, path)).toContain(part);
  expect(await shown("acme.example.com", "/offer?a=1")).toBe("301 /what-we-do?a=1");
});

test("every kind has the fields that the built-in prompt names", async () => {
  const { text } = await app.get("/core/prompts/system/cms_api.md");
  const openapi = (await app.get("/openapi.json")).text;
  for (const kind of ["site", "domain", "layout", "page", "paragraph", "category", "article"]) {
    const row = new RegExp(`\\n\\| ${kind} +\\| ([^|]+) \\|`).exec(text)?.[1] ?? "";
    const names = row
      .replaceAll(/\([^)]*\)/g, "")
      .split(/,| or /)
      .map((name) => name.trim());
    expect(names.length).toBeGreaterThan(3);
    for (const name of names.filter((each) => each !== "null")) expect(openapi).toContain(`"${name}"`);
  }
});

test("api_block leads an agent to it", async () => {
  const content = '{{ "cms_api" | api_block }}';
  await app.post("/core/prompts.json", { prompt: { name: "Site", code: "site", content, kind: "agent" } });
  expect((await app.get("/core/prompt/site.md")).text).toContain("/core/prompt/cms_api.md");
});
