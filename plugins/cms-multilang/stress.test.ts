import { afterAll, beforeAll, expect, test } from "bun:test";
import { startTestApp, type TestApp } from "../../tests/harness.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

/** The same numbers in every run. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return (state >>> 8) % below;
  };
}

test("any mixture of changes at once ends in refusals, never in a fault, and every rule holds", async () => {
  for (const code of ["stress", "other"]) await app.post("/cms/sites.json", { site: { code, name: code } });
  const next = numbers(7);
  const one = (kind: string) => `${kind}-${next(4)}`;
  /** Most is of one site, so that it meets; the rest has the same codes in the other one. */
  const site = () => (next(5) ? "stress" : "other");
  const of = () => (next(3) ? `?site_code=${site()}` : "");
  const path = () => ["", "a", "b", "c/d", "e"][next(5)];
  const locale = () => [null, "pl", "en"][next(3)];
  const pageFields = () => ({
    ...(next(2) && { path: path(), locale: locale() }),
    ...(next(2) && { based_on_page_code: next(3) ? one("page") : null }),
    ...(next(2) && { layout_code: next(3) ? one("layout") : null }),
  });
  const choices: (() => readonly [string, string, object?])[] = [
    () => ["POST", "/cms/pages", { page: { code: one("page"), site_code: site(), ...pageFields() } }],
    () => ["PATCH", `/cms/pages/${one("page")}${of()}`, { page: pageFields() }],
    () => ["PATCH", `/cms/pages/${one("page")}${of()}`, { page: { ...pageFields(), code: one("page") } }],
    () => ["DELETE", `/cms/pages/${one("page")}${of()}`],
    () => ["POST", "/cms/layouts", { layout: { code: one("layout"), site_code: site() } }],
    () => ["DELETE", `/cms/layouts/${one("layout")}${of()}`],
    () => ["POST", "/cms/paragraphs", { paragraph: { code: one("paragraph"), page_code: one("page") } }],
    () => ["POST", "/cms/paragraphs", { paragraph: { code: one("paragraph") } }],
    () => [
      "PATCH",
      `/cms/paragraphs/${one("paragraph")}${of()}`,
      { paragraph: { page_code: next(2) ? one("page") : null } },
    ],
    () => ["DELETE", `/cms/paragraphs/${one("paragraph")}${of()}`],
    () => [
      "POST",
      "/cms/categories",
      { category: { code: one("category"), site_code: site(), path: next(2) ? "x" : null } },
    ],
    () => ["DELETE", `/cms/categories/${one("category")}${of()}`],
    () => [
      "POST",
      "/cms/articles",
      {
        article: {
          title: one("article"),
          site_code: site(),
          category_code: one("category"),
          categories: [one("category")],
        },
      },
    ],
    () => [
      "PATCH",
      `/cms/articles/${one("article")}${of()}`,
      { article: { categories: [one("category"), one("category")] } },
    ],
    () => ["DELETE", `/cms/articles/${one("article")}${of()}`],
    () => ["POST", "/cms/domains", { domain: { name: `${one("d")}.test`, site_code: site(), primary: next(2) === 1 } }],
    () => ["PATCH", `/cms/domains/${one("d")}.test`, { domain: { primary: true } }],
    () => ["DELETE", `/cms/domains/${one("d")}.test`],
    () => ["PATCH", "/cms/sites/stress", { site: { multilang: next(2) === 1 } }],
  ];
  const seen = new Set<string>();
  const worker = async () => {
    for (let step = 0; step < 120; step++) {
      const [method, address, body] = choices[next(choices.length)]?.() ?? ["GET", "/cms/sites"];
      const { status, text } = await app.request(method, address, body);
      expect(`${method} ${address} ${status} ${text}`).toMatch(/ (200|201|204|404|409|422) /);
      seen.add(`${method} ${status}`);
    }
  };
  await Promise.all(Array.from({ length: 8 }, worker));
  // How often each happens depends on who comes first. Four codes for a thousand requests: that each happens does not.
  for (const kind of ["POST 201", "POST 422", "PATCH 200", "PATCH 422", "DELETE 204"]) expect(seen).toContain(kind);

  const [broken] = await app.sql`
    select
      (select count(*) from cms_pages s join cms_pages m on m.id = s.based_on_page_id
        where m.based_on_page_id is not null or m.path = s.path or m.path = '' or m.path <> s.based_on_path) as masters,
      (select count(*) from (select 1 from cms_pages where path = '' group by site_id having count(*) > 1) x) as homes,
      (select count(*) from (select 1 from cms_domains group by site_id having count(*) filter (where is_primary) <> 1) x)
        as primaries,
      (select count(*) from cms_redirects r join cms_pages p on p.id = r.page_id
        where p.path = r.path and p.locale is not distinct from r.locale) as circles`;
  expect(broken).toEqual({ masters: 0, homes: 0, primaries: 0, circles: 0 });
  expect(app.logged.filter((line) => !line.includes('"warn"'))).toEqual([]);
});
