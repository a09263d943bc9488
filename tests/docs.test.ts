/** `/docs` over HTTP: what it shows, what it lets run, and that a plugin's words stay words. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { definePlugin, ok, route } from "../runtime/sdk.ts";
import { startTestApp, type Answer, type TestApp } from "./harness.ts";
import { hostileText } from "./docs-fixture.ts";

let app: TestApp;
let page: Answer;

const hostile = definePlugin({
  name: "hostile",
  setup: () => ({
    routes: [
      route(
        "PATCH",
        "/hostile/:id",
        {
          summary: hostileText,
          description: hostileText,
          access: { open: hostileText },
          query: { [hostileText]: hostileText },
          body: {
            schema: Type.Object({ [hostileText]: Type.String({ description: hostileText, default: hostileText }) }),
          },
          request: { [hostileText]: hostileText },
          responses: { 200: { [hostileText]: hostileText } },
        },
        () => ok({}),
      ),
    ],
  }),
});

beforeAll(async () => {
  app = await startTestApp({ plugin: hostile });
  page = await app.get("/docs", { token: null });
});
afterAll(() => app.stop());

test("every operation of /openapi.json is there, and what leads on", async () => {
  const { paths } = (await app.get("/openapi.json", { token: null })).json as {
    paths: Record<string, Record<string, { operationId: string }>>;
  };
  const ids = Object.values(paths).flatMap((methods) => Object.values(methods).map(({ operationId }) => operationId));
  expect(ids.length).toBeGreaterThan(150);
  expect(ids.filter((id) => !page.text.includes(`class="operation" id="${id}"`))).toEqual([]);
  for (const href of ["/openapi.json", "/client.ts", "/studio", "/core/prompts/system.json"])
    expect(page.text).toContain(`href="${href}"`);
  // Every reference within the page leads somewhere.
  const targets = new Set([...page.text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));
  const missing = [...page.text.matchAll(/href="#([^"]+)"/g)].filter(([, id]) => !targets.has(id));
  expect(missing.map(([, id]) => id)).toEqual([]);
});

test("what is needed is marked, unless another field will do", () => {
  const start = page.text.indexOf('id="postCmsDomains"');
  const operation = page.text.slice(start, page.text.indexOf("</details>", start));
  expect(operation).toContain("<code>domain.name</code> <strong>required</strong>");
  expect(operation).toContain("<code>domain.site_code</code></td>");
});

test("fields stand in tables with their types, limits and choices", () => {
  const start = page.text.indexOf('id="postCorePrompts"');
  const operation = page.text.slice(start, page.text.indexOf("</details>", start));
  expect(operation).toContain("<code>prompt.name</code> <strong>required</strong>");
  expect(operation).toContain("255 characters or fewer");
  expect(operation).toContain("one of <code>&quot;chat&quot;</code>, <code>&quot;agent&quot;</code>");
  expect(operation).toContain('<a href="#type-Prompt">Prompt</a>');
  expect(operation).toContain("client.post(&quot;/core/prompts.json&quot;, {");
  expect(operation).toContain("curl -X POST");
});

test("only its own script and style run, and it is sent once", async () => {
  const policy = page.headers.get("content-security-policy") ?? "";
  for (const [tag, directive] of [
    ["script", "script-src"],
    ["style", "style-src"],
  ]) {
    const parts = page.text.split(`<${tag}>`);
    expect(parts).toHaveLength(2);
    const hash = new Bun.CryptoHasher("sha256").update(parts[1]?.split(`</${tag}>`)[0] ?? "").digest("base64");
    expect(policy).toContain(`${directive} 'sha256-${hash}';`);
  }
  for (const rule of ["default-src 'none'", "connect-src 'self'", "frame-ancestors 'none'", "base-uri 'none'"])
    expect(policy).toContain(rule);
  expect(policy).toContain("require-trusted-types-for 'script'");
  expect(policy).not.toContain("unsafe");
  const etag = page.headers.get("etag") ?? "";
  expect((await app.get("/docs", { token: null, headers: { "if-none-match": etag } })).status).toBe(304);
});

test("the words of a plugin are escaped, wherever they stand", () => {
  expect(page.text).not.toContain("<img");
  expect(page.text.split("&lt;img src=x").length).toBeGreaterThan(8);
  // Without the values of attributes, no tag has this attribute: no value has been ended by a quotation mark.
  const [markup = ""] = page.text.split("<script>");
  expect(markup.replaceAll(/"[^"]*"/g, "").match(/<[^>]*onerror/g)).toBeNull();
});

test.each([
  ["pl", "Przejdź do operacji", "co najmniej 1", "wymagane", "Wypróbuj"],
  ["de", "Zu den Operationen springen", "mindestens 1", "erforderlich", "Ausprobieren"],
])("its own words are in the language of the browser: %s", async (language, skip, limit, need, button) => {
  const headers = { "accept-language": language };
  const shown = await app.get("/docs", { token: null, headers });
  for (const words of [`<html lang="${language}">`, `>${skip}</a>`, limit, `<strong>${need}</strong>`, button])
    expect(shown.text).toContain(words);
  // What the API says of itself stays English, and is told to be.
  expect(shown.text).toContain('<span lang="en">Sign in with the form and continue</span>');
  const [, script = ""] = shown.text.split(/<script>|<\/script>/);
  const hash = new Bun.CryptoHasher("sha256").update(script).digest("base64");
  expect(shown.headers.get("content-security-policy")).toContain(`script-src 'sha256-${hash}';`);
  for (const answer of [page, shown])
    expect(answer.headers.get("vary")).toBe("accept-encoding, accept-language, cookie");
  const etag = page.headers.get("etag") ?? "";
  expect((await app.get("/docs", { token: null, headers: { ...headers, "if-none-match": etag } })).status).toBe(200);
});
