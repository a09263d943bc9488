import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startTestApp, type Answer, type TestApp } from "../../../tests/harness.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

type Body = Record<string, unknown>;

async function make(kind: string, body: Body): Promise<Body & { id: number }> {
  const plural = kind === "category" ? "categories" : `${kind}s`;
  const answer = await app.post(`/cms/${plural}.json`, { [kind]: body });
  if (answer.status !== 201) throw new Error(`${kind}: ${answer.status} ${answer.text}`);
  return answer.json;
}

const at = (host: string, path: string, headers: Record<string, string> = {}): Promise<Answer> =>
  app.get(path, { token: null, headers: { host, ...headers } });

describe("a site with a page", () => {
  test("shows it", async () => {
    await make("site", { code: "s1", name: "S1", locale: "pl", multilang: true });
    await make("domain", { name: "s1.test", site_code: "s1", locale: "pl" });
    await make("layout", {
      code: "l1",
      name: "L",
      site_code: "s1",
      content: "<html lang='{{ html_lang }}'>{{ seo_head }}{{ layout.x }}<body>{{ content }}{{ lang_switch | json }}",
      fields: { x: "X" },
    });
    await make("page", {
      code: "p1",
      name: "P",
      path: "o-nas",
      site_code: "s1",
      layout_code: "l1",
      content: "{{ title }}|{{ page.title }}",
      fields: { title: "O nas" },
    });
    const answer = await at("s1.test", "/o-nas");
    console.log(answer.status, answer.text, Object.fromEntries(answer.headers));
    console.log(
      (await at("s1.test:8080", "/o-nas/")).headers.get("location"),
      (await at("s1.test", "/x")).text,
      (await app.get("/w/s1/o-nas")).text,
      (await app.get("/w/s1/o-nas", { token: null })).status,
    );
    console.log(await at("s1.test", "/robots.txt"), (await at("nobody.test", "/o-nas")).text);
  });
});
