import { appEngines } from "../choices.ts";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startTestApp, type TestApp } from "../../../tests/harness.ts";
import { makeRuntimes } from "../../../scripts/runtimes.ts";

import { loadRuntimes, type AppRuntimes } from "./runtimes.ts";

let app: TestApp;
let runtimes: AppRuntimes;

beforeAll(async () => {
  await makeRuntimes();
  runtimes = await loadRuntimes();
  app = await startTestApp();
});
afterAll(() => app.stop());

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(`${app.origin}${path}`, { headers, decompress: false });

describe("GET /_rt/:hash/:name", () => {
  test("serves every file of every engine, to anyone and for ever", async () => {
    const paths = appEngines.flatMap((engine) => [
      ...Object.values(runtimes.importMap(engine)),
      ...runtimes.preloads(engine),
    ]);
    for (const path of new Set([...paths, runtimes.address("core.js"), runtimes.address("tailwind.js")])) {
      const answer = await get(path);
      expect({ path, status: answer.status }).toEqual({ path, status: 200 });
      expect(answer.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
      expect(answer.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
      expect(answer.headers.get("access-control-allow-origin")).toBe("*");
      expect(answer.headers.get("cross-origin-resource-policy")).toBe("cross-origin");
      expect((await answer.text()).length).toBeGreaterThan(0);
    }
  });

  test.each([
    ["br, gzip", "br"],
    ["gzip, deflate, br;q=0", "gzip"],
    ["GZIP", "gzip"],
    ["br;q=0.5", "br"],
    ["identity", null],
    ["", null],
  ])("Accept-Encoding %j gives %s, and the same code", async (accepted, encoding) => {
    const path = runtimes.address("svelte.js");
    const answer = await get(path, { "accept-encoding": accepted });
    expect(answer.headers.get("content-encoding")).toBe(encoding);
    expect(answer.headers.get("vary")).toBe("accept-encoding");
    const headers = { "accept-encoding": accepted };
    const decoded = await fetch(`${app.origin}${path}`, { headers });
    const plain = await runtimes.read("svelte.js", "");
    expect(await decoded.text()).toBe(new TextDecoder().decode(plain));
  });

  test("answers 304 to who has it, and each encoding has its own ETag", async () => {
    const path = runtimes.address("svelte.js");
    const tags = await Promise.all(
      ["br", "gzip", "identity"].map(
        async (encoding) => (await get(path, { "accept-encoding": encoding })).headers.get("etag") ?? "",
      ),
    );
    expect(new Set(tags).size).toBe(3);
    const again = await get(path, { "accept-encoding": "br", "if-none-match": tags[0] ?? "" });
    expect(again.status).toBe(304);
    expect((await again.bytes()).length).toBe(0);
  });

  test("is 404 for anything else", async () => {
    const { hash } = runtimes;
    const others = [
      "manifest.json",
      "svelte.js.gz",
      "..%2fmanifest.json",
      "%2e%2e%2f%2e%2e%2fpackage.json",
      "constructor",
      "__proto__",
      "svelte.js%00",
    ];
    for (const name of others) expect((await get(`/_rt/${hash}/${name}`)).status).toBe(404);
    expect((await get("/_rt/0000/svelte.js")).status).toBe(404);
    const ofAnother = await get("/_rt/0123456789abcdef/svelte.js");
    expect([ofAnother.status, ofAnother.headers.get("cache-control")]).toEqual([200, "no-store"]);
    expect((await get("/_rt/0123456789abcdef/nothing.js")).status).toBe(404);
  });
});

describe("the runtimes", () => {
  test("give each engine its own packages alone, and plain code all", () => {
    const packagesOf = (engine: (typeof appEngines)[number]) =>
      new Set(Object.keys(runtimes.importMap(engine)).map((name) => name.split("/")[0]));
    expect(packagesOf("svelte")).toEqual(new Set(["svelte"]));
    expect(packagesOf("vue")).toEqual(new Set(["vue"]));
    expect(packagesOf("react")).toEqual(new Set(["react", "react-dom"]));
    expect(packagesOf("kaboom")).toEqual(new Set(["kaplay", "kaboom"]));
    expect(packagesOf("phaser")).toEqual(new Set(["phaser"]));
    expect(packagesOf("js").size).toBe(7);
  });

  test("of Svelte stay small: what a counter loads, gzipped", async () => {
    const names = runtimes.preloads("svelte").map((path) => path.split("/").at(-1) ?? "");
    const sizes = await Promise.all(names.map(async (name) => (await runtimes.read(name, ".gz"))?.length ?? 0));
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(46_000);
  });

  test("share one copy of React", async () => {
    const [jsx, react] = ["react/jsx-runtime", "react"].map((name) => runtimes.importMap("react")[name]);
    expect(jsx).toBe(react ?? "");
    const dom = new TextDecoder().decode(await runtimes.read("react-dom.js", ""));
    expect(dom).toMatch(/from"\.\/react-\w+\.js"/);
  });
});
