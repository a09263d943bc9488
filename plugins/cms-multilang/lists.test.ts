/** Lists whose records are large. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { adminToken, startTestApp, type TestApp } from "../../tests/harness.ts";
import { cms } from "./api.ts";
import { maxPartBytes, partsOf } from "./lists.ts";

describe("parts", () => {
  test("hold every record once, in its order, and no more than they may but for a single one", () => {
    const records = fc.array(fc.record({ id: fc.integer(), bytes: fc.nat(100) }));
    fc.assert(
      fc.property(records, fc.integer({ min: 1, max: 150 }), (given, most) => {
        const sized = given.map(({ bytes }, id) => ({ id, bytes }));
        const parts = partsOf(sized, most);
        expect(parts.flat()).toEqual(sized.map(({ id }) => id));
        const sizeOf = (ids: number[]) => ids.reduce((sum, id) => sum + (sized[id]?.bytes ?? 0), 0);
        for (const ids of parts) expect(ids.length <= 1 || sizeOf(ids) <= most).toBe(true);
        expect(parts.length === 1 || parts.every((ids) => ids.length > 0)).toBe(true);
      }),
    );
  });

  test("of nothing are one", () => {
    expect(partsOf([])).toEqual([[]]);
  });
});

describe("a list of more than fits into one part", () => {
  let app: TestApp;
  const count = 40;
  const content = (at: number) => `${at} "é"\n`.padEnd(250_000, "x");
  beforeAll(async () => {
    app = await startTestApp();
    await app.post("/cms/sites.json", { site: { code: "large", name: "Large" } });
    await app.post("/cms/layouts.json", { layout: { code: "small", site_code: "large" } });
    for (let at = 0; at < count; at++) {
      const page = { code: `page-${at}`, site_code: "large", position: count - at, content: content(at) };
      const made = await app.post("/cms/pages.json", { page });
      expect(`${made.status} ${made.text.slice(0, 200)}`).toStartWith("201");
    }
    expect(count * 250_000).toBeGreaterThan(maxPartBytes);
  });
  afterAll(() => app.stop());

  test("is whole and in its order", async () => {
    const answer = await app.get("/cms/pages.json?site_code=large");
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect(answer.headers.get("x-total-count")).toBe(`${count}`);
    expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
    const codes = answer.json.map(({ code }: { code: string }) => code);
    expect(codes).toEqual(Array.from({ length: count }, (_, at) => `page-${count - 1 - at}`));
    for (const page of answer.json) expect(page.content === content(count - page.position)).toBe(true);
    expect(answer.json[3]).toEqual((await app.get(`/cms/pages/${answer.json[3].code}.json`)).json);
  });

  test("is paged like any other", async () => {
    const answer = await app.get("/cms/pages.json?site_code=large&limit=37&offset=2");
    expect(answer.json.map(({ position }: { position: number }) => position)).toEqual(
      Array.from({ length: 37 }, (_, at) => at + 3),
    );
    expect(answer.headers.get("x-total-count")).toBe(`${count}`);
    expect((await app.get("/cms/pages.json?site_code=large&offset=99")).text).toBe("[]");
  });

  test("has the same headers where only these are asked for", async () => {
    const answer = await app.request("HEAD", "/cms/pages.json?site_code=large");
    expect([answer.status, answer.text, answer.headers.get("x-total-count")]).toEqual([200, "", `${count}`]);
  });

  test("may be left before its end, many times, and everything goes on", async () => {
    const leave = async () => {
      const stop = new AbortController();
      const headers = { authorization: `Bearer ${adminToken}` };
      const response = await fetch(`${app.origin}/cms/pages.json?site_code=large`, { headers, signal: stop.signal });
      await response.body?.getReader().read();
      stop.abort();
    };
    for (let round = 0; round < 5; round++) await Promise.all(Array.from({ length: 4 }, leave));
    expect((await app.get("/cms/layouts.json?site_code=large")).json).toHaveLength(1);
  });

  test("is as complete to other plugins", async () => {
    const [account] = await app.sql<{ id: number }[]>`select id from accounts order by id limit 1`;
    const query = new URLSearchParams({ site_code: "large" });
    const { records, total } = await app.service(cms).list(account?.id ?? 0, "page", query);
    expect([records.length, total]).toEqual([count, count]);
  });
});
