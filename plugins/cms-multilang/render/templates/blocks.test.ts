import { beforeAll, describe, expect, test } from "bun:test";
import { readOn, type Read } from "platform";
import { serverWithSites } from "../../../../tests/sites.ts";
import * as renderStore from "../store.ts";
import type { SiteState } from "../door/cache.ts";
import { compose } from "../compose.ts";
import { createSiteEngine } from "./engine.ts";
import { findPage } from "../addresses/find.ts";

const server = serverWithSites(async () => {
  await blog();
});
const { make, at } = server;

const block =
  '{% articles category="news" paginate=1 sort="path" %}{% list %}({{ article.title }} {{ article.url }}){% show %}<{{ article.title }}>{% endarticles %}';
const aside =
  '[{% articles category="news" limit=1 sort="path" %}{% list %}{{ article.title }} {{ article.url }}{% empty %}-{% endarticles %}]';

async function blog(): Promise<void> {
  await make.site({ code: "blog", name: "Blog", locale: "pl", multilang: true });
  await make.domain({ name: "blog.pl", site_code: "blog", locale: "pl" });
  await make.domain({ name: "blog.com", site_code: "blog", locale: "en" });
  await make.category({ code: "news", name: "News", site_code: "blog" });
  await make.category({ code: "garden", name: "Garden", path: "garden", site_code: "blog" });
  const article = (code: string, more = {}) =>
    make.article({ code, path: code, title: code.toUpperCase(), site_code: "blog", category_code: "news", ...more });
  await article("a1");
  await article("a2", { categories: ["garden"] });
  await article("a3", { categories: ["garden"] });
  await article("loose", { category_code: null });
}

/** A page of its own code that prints the block in this way. */
type Place = (code: string) => Promise<unknown>;
const pageOf = (code: string, body: Record<string, unknown>) =>
  make.page({ code, path: code, site_code: "blog", ...body });
const places: Record<string, Place> = {
  "its paragraphs": async (code) => {
    await pageOf(code, { content: "{% paragraphs %}" });
    await make.paragraph({ code: `${code}-g`, page_code: code, content: block });
  },
  "a paragraph that it names": async (code) => {
    await make.paragraph({ code: `${code}-g`, site_code: "blog", content: block });
    await pageOf(code, { content: `{% if false %}{% endif %}{% paragraph "${code}-g" %}` });
  },
  "a paragraph of every site, in another one": async (code) => {
    await make.paragraph({ code: `${code}-every`, content: block });
    await make.paragraph({ code: `${code}-g`, site_code: "blog", content: `{% paragraph '${code}-every' %}` });
    await pageOf(code, { content: `{% paragraph "${code}-g" %}` });
  },
  "its layout": async (code) => {
    await make.layout({ code: `${code}-l`, site_code: "blog", content: `{{ content }}${block}` });
    await pageOf(code, { layout_code: `${code}-l`, content: "" });
  },
  "a paragraph of its layout": async (code) => {
    await make.paragraph({ code: `${code}-g`, site_code: "blog", content: block });
    await make.layout({ code: `${code}-l`, site_code: "blog", content: `{{ content }}{% paragraph "${code}-g" %}` });
    await pageOf(code, { layout_code: `${code}-l`, content: "" });
  },
  "the layout of its master": async (code) => {
    await make.layout({ code: `${code}-l`, site_code: "blog", content: `{{ content }}${block}` });
    await pageOf(`${code}-m`, { layout_code: `${code}-l`, content: "", locale: "en" });
    await pageOf(code, { based_on_page_code: `${code}-m`, locale: "pl" });
  },
  "the paragraphs of its master": async (code) => {
    await pageOf(`${code}-m`, { content: "{% paragraphs %}", locale: "en" });
    await make.paragraph({ code: `${code}-g`, page_code: `${code}-m`, content: block });
    await pageOf(code, { based_on_page_code: `${code}-m`, locale: "pl" });
  },
};

describe("a page shows what its block lists, where the block stands in", () => {
  test.each(Object.entries(places))("%s", async (_, place) => {
    const code = `p${Object.values(places).indexOf(place)}`;
    await place(code);
    const textAt = async (path: string) => {
      const { status, text } = await at("blog.pl", `/${code}${path}`);
      return status === 200 ? text : status;
    };
    expect(await textAt("")).toBe(`(A1 /${code}/a1)`);
    expect(await textAt("?page=3")).toBe(`(A3 /${code}/a3)`);
    expect(await textAt("/a2")).toBe("<A2>");
    expect(await textAt("/garden")).toBe(`(A2 /${code}/a2)`);
    expect(await textAt("/garden?page=2")).toBe(`(A3 /${code}/a3)`);
    for (const path of ["/loose", "/none", "/x/a1", "/garden/a2"]) expect(await textAt(path)).toBe(404);
    const { text } = await at("blog.pl", "/sitemap.xml");
    const below = [...text.matchAll(/<loc>https:\/\/blog\.pl\/([^<]*)<\/loc>/g)].map(([, path = ""]) => path);
    const own = below.filter((path) => path.startsWith(`${code}/`));
    expect(own).toEqual(["a1", "a2", "a3"].map((path) => `${code}/${path}`));
  });

  test("and every address in the sitemap is there", async () => {
    for (const host of ["blog.pl", "blog.com"]) {
      const { text } = await at(host, "/sitemap.xml");
      for (const [, url = ""] of text.matchAll(/<loc>([^<]*)<\/loc>/g))
        expect([url, (await at(host, new URL(url).pathname)).status]).toEqual([url, 200]);
    }
  });
});

describe("what a page does not print shows nothing below it:", () => {
  test("a paragraph of the page that no template prints", async () => {
    await pageOf("unprinted", { content: "text" });
    await make.paragraph({ code: "unprinted-g", page_code: "unprinted", content: block });
    expect((await at("blog.pl", "/unprinted/a1")).status).toBe(404);
    expect((await at("blog.pl", "/sitemap.xml")).text).not.toContain("unprinted/");
  });

  test("the master's paragraphs, where the slave has its own", async () => {
    await pageOf("lists-pl", { content: "{% paragraphs %}", locale: "pl" });
    await make.paragraph({ code: "lists-pl-g", page_code: "lists-pl", content: block });
    await pageOf("lists-en", { based_on_page_code: "lists-pl", locale: "en" });
    expect((await at("blog.com", "/lists-en/a1")).text).toBe("<A1>");
    await make.paragraph({ code: "lists-en-g", page_code: "lists-en", content: "own" });
    expect((await at("blog.com", "/lists-en")).text).toBe("own");
    expect((await at("blog.com", "/lists-en/a1")).status).toBe(404);
    expect((await at("blog.com", "/sitemap.xml")).text).not.toContain("lists-en/");
    expect((await at("blog.pl", "/lists-pl/a1")).text).toBe("<A1>");
    const own = block.replace("category", "limit").replace('"news" paginate=1', "1");
    await make.change("paragraph", "lists-en-g", { content: own });
    expect((await at("blog.com", "/lists-en/loose")).text).toBe("<LOOSE>");
    expect((await at("blog.pl", "/lists-pl/loose")).status).toBe(404);
  });

  test("a list alone", async () => {
    await make.paragraph({ code: "aside", site_code: "blog", content: aside });
    await pageOf("alone", { content: '{% paragraph "aside" %}' });
    // Its articles are shown by the first page above that shows this category.
    expect((await at("blog.pl", "/alone")).text).toBe("[A1 /p5/a1]");
    expect((await at("blog.pl", "/alone/a1")).status).toBe(404);
    expect((await at("blog.pl", "/alone/garden")).text).toBe("[A2 /p5/a2]");
  });
});

test("a list alone in a layout or a paragraph is the same beside an article, and beside a category's list", async () => {
  await make.layout({ code: "sided", site_code: "blog", content: `{{ content }}${aside}` });
  await pageOf("sided", { layout_code: "sided", content: block });
  expect((await at("blog.pl", "/sided/a3")).text).toBe("<A3>[A1 /sided/a1]");
  expect((await at("blog.pl", "/sided/garden")).text).toBe("(A2 /sided/a2)[A1 /sided/a1]");
});

test("each block that shows the article does, wherever it stands", async () => {
  const loose = "{% articles limit=1 %}{% show %}2{{ article.title }}{% endarticles %}";
  await make.layout({ code: "twice", site_code: "blog", content: `{{ content }}${loose}` });
  await pageOf("twice", { layout_code: "twice", content: `${block}${block}`.replace("paginate", "limit") });
  expect((await at("blog.pl", "/twice/a1")).text).toBe("<A1><A1>2A1");
  expect((await at("blog.pl", "/twice/loose")).text).toBe("2LOOSE");
});

test("a paragraph that fails leaves what the page's own content shows", async () => {
  await make.paragraph({ code: "broken", site_code: "blog", content: "x" });
  await pageOf("breaking", { content: `{% paragraph "broken" %}${block}` });
  await pageOf("unshown", { content: '{% paragraph "broken" %}' });
  await server.app.sql`update cms_paragraphs set content = '{% if %}' where code = 'broken'`;
  await make.change("page", "breaking", { name: "B" });
  const statuses = ["/breaking", "/breaking/a1", "/unshown", "/unshown/a1"].map(
    async (path) => (await at("blog.pl", path)).status,
  );
  expect(await Promise.all(statuses)).toEqual([500, 500, 500, 404]);
  expect((await at("blog.pl", "/sitemap.xml")).status).toBe(200);
  await make.change("paragraph", "broken", { content: "y" });
  expect((await at("blog.pl", "/breaking/a1")).text).toBe("y<A1>");
});

test("of two articles at one path that different blocks show, the one in the domain's language is there", async () => {
  await make.article({ code: "d", path: "d", title: "D", site_code: "blog", category_code: "news" });
  await make.article({ code: "d-en", path: "d", title: "D-EN", site_code: "blog", locale: "en" });
  await make.paragraph({
    code: "all",
    site_code: "blog",
    content: "{% articles %}{% show %}{{ article.title }}{% endarticles %}",
  });
  await pageOf("both", { content: `${block}{% paragraph "all" %}` });
  expect((await at("blog.com", "/both/d")).text).toBe("D-EN");
  expect((await at("blog.pl", "/both/d")).text).toBe("<D>D");
});

describe("the database is asked", () => {
  /** The reading side of one process, and how often it has read. */
  async function reading() {
    let reads = 0;
    const { sql } = server.app;
    const plain = readOn(sql);
    const read: Read = (run) => {
      reads++;
      return plain(run);
    };
    const uncounted = { sql, read: plain };
    const ctx = { sql, read, engine: createSiteEngine(), media: { picturesOf: async () => new Map() } };
    const [row] = await server.app.sql<{ id: number }[]>`select id from cms_sites where code = 'blog'`;
    const site = await renderStore.siteById(uncounted, row?.id ?? 0);
    if (!site) throw new Error("the site is missing");
    const account = { id: site.site.accountId, name: "", baseUrl: "", timezone: "UTC", locale: "pl" as const };
    const layouts = new Map<number, ReturnType<typeof renderStore.layout>>();
    const state: SiteState = {
      serial: 0,
      account,
      ...site,
      layout: (id) => {
        const known = layouts.get(id) ?? renderStore.layout(ctx, site.site, id);
        layouts.set(id, known);
        return known;
      },
      categories: () => renderStore.categories(uncounted, site.site),
      redirects: () => Promise.resolve(new Map()),
      nextPublication: async () => null,
    };
    const view = { state, lang: undefined, domainLocale: "pl" as const, preview: false, drafts: false };
    /** What one rendering asks for. */
    return async (path: string): Promise<Record<string, unknown>> => {
      reads = 0;
      const found = await findPage(ctx, view, path);
      if (!found || "redirect" in found) return { text: null, reads };
      const input = { ...view, domain: null, scheme: "https:", query: new URLSearchParams(), page: 1 };
      const { text } = await compose(ctx, input, found);
      return { text, reads };
    };
  }
  beforeAll(async () => {
    await make.layout({ code: "plain", site_code: "blog", content: "{{ content }}" });
    await make.paragraph({ code: "footer", site_code: "blog", content: "F" });
    await make.paragraph({ code: "shown", site_code: "blog", content: block.replace("paginate", "limit") });
    const own = block.replace("paginate", "limit");
    await pageOf("bare", { layout_code: "plain", content: own });
    await pageOf("footed", { layout_code: "plain", content: `${own}{% paragraph "footer" %}` });
    await pageOf("outside", { layout_code: "plain", content: '{% paragraph "shown" %}' });
  });
  // Two for pages, and one each for redirects, the article and the group.
  const found = 5;

  test("for no paragraphs where the page prints none", async () => {
    const ask = await reading();
    expect(await ask("bare/a1")).toEqual({ text: "<A1>", reads: found + 1 });
    expect(await ask("bare/a2")).toEqual({ text: "<A2>", reads: found });
  });

  test.each(["footed", "outside"])(
    "once for its paragraphs, by what looks and what prints together: %s",
    async (code) => {
      const ask = await reading();
      const text = code === "footed" ? "<A1>F" : "<A1>";
      expect(await ask(`${code}/a1`)).toEqual({ text, reads: found + 2 });
      expect(await ask(`${code}/a1`)).toEqual({ text, reads: found + 1 });
      // What is not there costs no more, but for the first.
      expect(await ask(`${code}/none`)).toEqual({ text: null, reads: found - 1 });
    },
  );
});
