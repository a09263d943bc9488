import { expect, test } from "bun:test";
import { serverWithSites } from "../../../../tests/sites.ts";

const server = serverWithSites();
const { make } = server;

type Page = readonly [code: string, path: string, locale: string | null, master?: string];
interface Seen {
  readonly canonical: string;
  readonly alternates: readonly { readonly locale: string; readonly url: string }[];
}

/** A site in Polish, whose domains have these locales; the first one is the primary. */
async function site(code: string, locales: readonly string[], pages: readonly Page[]) {
  await make.site({ code, name: code, locale: "pl", multilang: true });
  for (const locale of locales) await make.domain({ name: `${locale}.${code}.test`, site_code: code, locale });
  const content = '{ "canonical": {{ canonical_url | json }}, "alternates": {{ seo_alternates | json }} }';
  await make.layout({ code: "seo", site_code: code, content });
  for (const [page, path, locale, master] of pages)
    await make.page({ code: page, path, locale, site_code: code, layout_code: "seo", based_on_page_code: master });
  return async (locale: string, path: string): Promise<Seen> => {
    const answer = await make.at(`${locale}.${code}.test`, path);
    if (answer.status !== 200) throw new Error(`${path} at ${locale}: ${answer.status}`);
    return JSON.parse(answer.text);
  };
}

test("a page without a locale has one canonical address, on the primary domain, wherever it is shown", async () => {
  const at = await site("one", ["en", "de", "pl"], [["n", "n", null]]);
  for (const [locale, path] of [
    ["en", "/n"],
    ["de", "/n"],
    ["pl", "/n"],
    ["pl", "/n?lang=uk"],
  ] as const) {
    const { canonical, alternates } = await at(locale, path);
    expect([locale, canonical]).toEqual([locale, "https://en.one.test/n"]);
    expect(alternates.at(-1)).toEqual({ locale: "x-default", url: "https://en.one.test/n" });
  }
  const sitemap = await make.at("de.one.test", "/sitemap.xml");
  expect(sitemap.text).toContain("<loc>https://en.one.test/n</loc>");
  expect(sitemap.text).toContain(`hreflang="de" href="https://de.one.test/n"`);
});

test("it is never the address of a slave, whose language ?lang= asks for", async () => {
  const pages: Page[] = [
    ["n", "n", null],
    ["s", "s", "de", "n"],
  ];
  const at = await site("lang", ["pl", "de"], pages);
  expect((await at("pl", "/n?lang=de")).canonical).toBe("https://pl.lang.test/n");
});

test("without a primary domain the first one is meant", async () => {
  const at = await site("first", ["de", "en"], [["n", "n", null]]);
  await server.app.sql`update cms_domains set is_primary = false where name like '%.first.test'`;
  await make.change("site", "first", { name: "read again" });
  expect((await at("en", "/n")).canonical).toBe("https://de.first.test/n");
});

test("a page at the master's path does not displace a slave", async () => {
  const at = await site(
    "slave",
    ["pl", "de"],
    [
      ["about", "o-nas", "pl"],
      ["about-de", "ueber-uns", "de", "about"],
      ["twin", "o-nas", "de"],
    ],
  );
  const alternates = [
    { locale: "pl", url: "https://pl.slave.test/o-nas" },
    { locale: "de", url: "https://de.slave.test/ueber-uns" },
    { locale: "x-default", url: "https://pl.slave.test/o-nas" },
  ];
  expect((await at("pl", "/o-nas")).alternates).toEqual(alternates);
  expect((await at("de", "/ueber-uns")).alternates).toEqual(alternates);
});

test("a page at a slave's path does not take the default from the master", async () => {
  const at = await site(
    "master",
    ["pl", "de", "en"],
    [
      ["a", "a", "de"],
      ["b", "b", "en", "a"],
      ["twin", "b", "pl"],
    ],
  );
  for (const [locale, path] of [
    ["de", "/a"],
    ["en", "/b"],
  ] as const)
    expect((await at(locale, path)).alternates).toContainEqual({
      locale: "x-default",
      url: "https://de.master.test/a",
    });
});

test("pages at one path stay in the list beside a slave", async () => {
  const at = await site(
    "variants",
    ["pl", "en", "de"],
    [
      ["x-pl", "x", "pl"],
      ["x-en", "x", "en"],
      ["y", "y", "de", "x-pl"],
    ],
  );
  const alternates = [
    { locale: "de", url: "https://de.variants.test/y" },
    { locale: "en", url: "https://en.variants.test/x" },
    { locale: "pl", url: "https://pl.variants.test/x" },
    { locale: "x-default", url: "https://pl.variants.test/x" },
  ];
  for (const [locale, path] of [
    ["pl", "/x"],
    ["en", "/x"],
    ["de", "/y"],
  ] as const) {
    const seen = await at(locale, path);
    expect(seen.alternates.toSorted((a, b) => a.locale.localeCompare(b.locale))).toEqual(alternates);
  }
});
