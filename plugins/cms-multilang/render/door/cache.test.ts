import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eventually, startTestApp, type TestApp } from "../../../../tests/harness.ts";
import { siteMaker, type SiteMaker } from "../../../../tests/sites.ts";
import { locales, type Locale } from "../../locales.ts";

let one: TestApp;
let two: TestApp;
let makers: readonly [SiteMaker, SiteMaker];
let make: SiteMaker;
beforeAll(async () => {
  const env = { BASE_URL: "https://corestead.test" };
  one = await startTestApp({ env });
  two = await startTestApp({ env, target: one.target });
  makers = [siteMaker(one), siteMaker(two)];
  [make] = makers;
  await make.site({ code: "acme", name: "Acme", locale: "pl", multilang: true });
  await make.domain({ name: "acme.pl", site_code: "acme", locale: "pl" });
});
afterAll(async () => {
  await two.stop();
  await one.stop();
});

/** What both processes answer. */
async function both(path: string, host = "acme.pl"): Promise<(string | number)[]> {
  const answers = await Promise.all(makers.map(({ at }) => at(host, path)));
  return answers.map(({ status, text }) => (status === 200 ? text : status));
}

describe("a page is kept", () => {
  test("until something of its site changes, and is then right at once in every process", async () => {
    const [, other] = makers;
    await make.layout({ code: "lay", site_code: "acme", content: "L1{{ content }}" });
    await make.category({ code: "cat", name: "C1", site_code: "acme" });
    const content =
      '{{ site.name }}{% paragraphs %}{% articles category="cat" %}{% list %}{{ article.title }}{{ article.category.name }}{% endarticles %}';
    await make.page({ code: "p", path: "p", site_code: "acme", layout_code: "lay", content });
    await make.paragraph({ code: "para", page_code: "p", content: "P1" });
    await make.article({ code: "art", path: "art", title: "A1", site_code: "acme", category_code: "cat" });
    const changes: [kind: string, ref: string, body: Record<string, unknown>, text: string][] = [
      ["layout", "lay", { content: "L2{{ content }}" }, "L2AcmeP1A1C1"],
      ["paragraph", "para", { content: "P2" }, "L2AcmeP2A1C1"],
      ["article", "art", { title: "A2" }, "L2AcmeP2A2C1"],
      ["category", "cat", { name: "C2" }, "L2AcmeP2A2C2"],
      ["site", "acme", { name: "Acme2" }, "L2Acme2P2A2C2"],
      ["page", "p", { content: "{{ site.name }}" }, "L2Acme2"],
    ];
    expect(await both("/p")).toEqual(["L1AcmeP1A1C1", "L1AcmeP1A1C1"]);
    for (const [index, [kind, ref, body, text]] of changes.entries()) {
      await (index % 2 === 0 ? make : other).change(kind, ref, body);
      expect(await both("/p")).toEqual([text, text]);
    }
    await other.remove("page", "p");
    expect(await both("/p")).toEqual([404, 404]);
  });

  test("and asks the database nothing more", async () => {
    await make.page({ code: "kept", path: "kept", site_code: "acme", content: "kept" });
    await make.page({ code: "asking", path: "asking", site_code: "acme", content: "[{{ params.q }}]" });
    for (const path of ["/kept", "/kept?lang=de", "/asking?q=1"]) await make.at("acme.pl", path);
    // Behind the back of everything that would tell of it.
    await one.sql`update cms_pages set content = 'changed{{ params.q }}' where code in ('kept', 'asking')`;
    const texts = async (paths: string[]) =>
      Promise.all(paths.map(async (path) => (await make.at("acme.pl", path)).text));
    expect(await texts(["/kept", "/kept?utm_source=x", "/kept?lang=de", "/kept?lang=it"])).toEqual([
      "kept",
      "kept",
      "kept",
      "kept",
    ]);
    expect(await texts(["/asking?q=1", "/asking?q=2", "/asking"])).toEqual(["[1]", "[2]", "[]"]);
    expect((await make.at("acme.pl", "/asking")).headers.get("cache-control")).toBe("private, no-cache");
  });

  test("not where the request is only asked whether it holds something", async () => {
    const contents = [
      "{% if params.a %}yes{% else %}no{% endif %}",
      "{{ params.size }}",
      "{% for p in params %}{{ p[0] }}{% endfor %}",
      "{{ params | json }}",
      "{{ ['params'].a }}",
      "{% assign n = 'par' | append: 'ams' %}{{ [n].a }}",
    ];
    for (const [index, content] of contents.entries()) {
      await make.page({ code: `look-${index}`, path: `look-${index}`, site_code: "acme", content });
      const without = (await make.at("acme.pl", `/look-${index}`)).text;
      const withIt = (await make.at("acme.pl", `/look-${index}?a=1`)).text;
      if (content.startsWith("{% assign") || content.startsWith("{{ [")) expect([without, "1", ""]).toContain(withIt);
      else expect(withIt).not.toBe(without);
      expect((await make.at("acme.pl", `/look-${index}`)).text).toBe(without);
    }
  });
});

test("what was missing is there at once when it has been made, in every process", async () => {
  for (const path of ["/new", "/new/below", "/new"]) expect(await both(path)).toEqual([404, 404]);
  await make.page({ code: "new", path: "new", site_code: "acme", content: "new" });
  expect(await both("/new")).toEqual(["new", "new"]);
  const content = "{% articles %}{% show %}{{ article.title }}{% endarticles %}";
  await make.change("page", "new", { content });
  expect(await both("/new/below")).toEqual([404, 404]);
  const published_at = new Date(Date.now() + 1500).toISOString();
  await make.article({ code: "below", path: "below", title: "below", site_code: "acme", published_at });
  expect(await both("/new/below")).toEqual([404, 404]);
  await eventually(async () => (await both("/new/below")).every((text) => text === "below"), "the article");
});

test("what one domain does not have, another one of the same site has all the same", async () => {
  const shows = "{% articles %}{% list %}{{ article.title }} {% show %}{{ article.title }}{% endarticles %}";
  await make.site({ code: "two", name: "Two", locale: "pl", multilang: true });
  for (const locale of ["pl", "en"]) await make.domain({ name: `${locale}.two.test`, site_code: "two", locale });
  await make.page({ code: "news", path: "news", site_code: "two", content: `${shows}{{ params.q }}` });
  await make.article({ code: "one", path: "one", title: "One", locale: "en", site_code: "two" });
  const asked = async (host: string, path: string) => {
    const { status, text } = await make.at(host, path);
    return status === 200 ? text : status;
  };
  // Each twice: also as it is kept. The other order too: what one has, the other has not.
  for (const host of ["pl.two.test", "pl.two.test", "en.two.test", "en.two.test", "pl.two.test"]) {
    const has = host.startsWith("en");
    expect([host, await asked(host, "/news/one")]).toEqual([host, has ? "One" : 404]);
    expect([host, await asked(host, "/news/one?q=1")]).toEqual([host, has ? "One1" : 404]);
    expect([host, await asked(host, "/news")]).toEqual([host, has ? "One " : ""]);
    expect([host, await asked(host, "/news?q=1")]).toEqual([host, has ? "One 1" : "1"]);
    expect((await make.at(host, "/sitemap.xml")).text.includes("/news/one")).toBe(has);
  }
});

test("what stands below a page changes at once with its paragraphs and its layout, in every process", async () => {
  const [, other] = makers;
  const shows = "{% articles %}{% show %}{{ article.title }}{% endarticles %}";
  await make.article({ code: "deep", path: "deep", title: "deep", site_code: "acme" });
  await make.layout({ code: "over", site_code: "acme", content: "{{ content }}" });
  await make.page({ code: "over", path: "over", site_code: "acme", layout_code: "over", content: "{% paragraphs %}" });
  await make.paragraph({ code: "over", page_code: "over", content: "1" });
  await make.paragraph({ code: "every", content: "2" });
  const changes: [kind: string, ref: string, body: Record<string, unknown>, text: string | number][] = [
    ["paragraph", "over", { content: shows }, "deep"],
    ["paragraph", "over", { content: "1" }, 404],
    ["layout", "over", { content: shows }, "deep"],
    ["layout", "over", { content: "{{ content }}" }, 404],
    ["paragraph", "over", { content: "{% paragraph 'every' %}" }, 404],
    ["paragraph", "every", { content: shows }, "deep"],
    ["paragraph", "over", { page_code: null }, 404],
    ["paragraph", "over", { page_code: "over" }, "deep"],
    ["page", "over", { layout_code: null, content: "{{ content }}" }, 404],
  ];
  expect(await both("/over/deep")).toEqual([404, 404]);
  for (const [index, [kind, ref, body, text]] of changes.entries()) {
    await (index % 2 === 0 ? make : other).change(kind, ref, body);
    expect([index, ...(await both("/over/deep"))]).toEqual([index, text, text]);
    const maps = await Promise.all(makers.map(async (maker) => (await maker.at("acme.pl", "/sitemap.xml")).text));
    for (const map of maps) expect([index, map.includes("/over/deep<")]).toEqual([index, text !== 404]);
  }
});

describe("hosts", () => {
  test("are known in every process before the answer to their change", async () => {
    await make.page({ code: "home", path: "", site_code: "acme", content: "{{ domain.name }}" });
    for (let round = 0; round < 10; round++) {
      const name = `host-${round}.test`;
      const [first, second] = round % 2 === 0 ? makers : makers.toReversed();
      const { id } = await (first ?? make).domain({ name, site_code: "acme" });
      expect(await both("/", name)).toEqual([name, name]);
      await (second ?? make).change("domain", id, { name: `renamed-${name}` });
      expect(await both("/", name)).toEqual([404, 404]);
      expect(await both("/", `renamed-${name}`)).toEqual([`renamed-${name}`, `renamed-${name}`]);
      await (first ?? make).remove("domain", id);
      expect(await both("/", `renamed-${name}`)).toEqual([404, 404]);
    }
  });

  test("made and removed by both processes at once are all known", async () => {
    const names = Array.from({ length: 24 }, (_, index) => `many-${index}.test`);
    const made = await Promise.all(
      names.map((name, index) => (makers[index % 2] ?? make).domain({ name, site_code: "acme" })),
    );
    for (const name of names) expect(await both("/", name)).toEqual([name, name]);
    await Promise.all(made.slice(0, 12).map(({ id }, index) => (makers[index % 2] ?? make).remove("domain", id)));
    for (const [index, name] of names.entries())
      expect(await both("/", name)).toEqual(index < 12 ? [404, 404] : [name, name]);
  });
});

test("a page that was being made when something changed is not kept", async () => {
  await make.page({ code: "slow", path: "slow", site_code: "acme", content: "old{% paragraph 'x' %}" });
  let answered: Promise<string> | undefined;
  await one.sql.begin(async (tx) => {
    // Holds up the rendering after it has read the page.
    await tx`lock table cms_paragraphs in access exclusive mode`;
    answered = make.at("acme.pl", "/slow").then(({ text }) => text);
    const isHeldUp = async () => {
      const [row] = await two.sql<{ held: boolean }[]>`
        select exists (select 1 from pg_locks where relation = 'cms_paragraphs'::regclass and not granted) as held`;
      return row?.held === true;
    };
    while (!(await isHeldUp())) await Bun.sleep(5);
    await make.change("page", "slow", { content: "new" });
    expect(await both("/slow")).toEqual(["new", "new"]);
  });
  expect(await answered).toBe("old");
  expect(await both("/slow")).toEqual(["new", "new"]);
});

test("200 requests at once over four domains and eight locales, while pages change, never get what is another's or older", async () => {
  await make.site({ code: "busy", name: "Busy", locale: "pl", multilang: true });
  const domains: Record<string, Locale | null> = {
    "busy.pl": "pl",
    "busy.com": "en",
    "busy.de": "de",
    "busy.eu": null,
  };
  for (const [name, locale] of Object.entries(domains)) await make.domain({ name, locale, site_code: "busy" });
  const content = "{{ domain.name }}|{{ content_lang }}|{{ page.path }}|{{ v }}";
  const paths = ["", "a", "b", "c"];
  for (const path of paths)
    await make.page({ code: `busy-${path}`, path, site_code: "busy", content, fields: { v: 0 } });
  const answeredVersion = new Map(paths.map((path) => [path, 0]));
  const askedVersion = new Map(paths.map((path) => [path, 0]));

  const writing = { isOver: false };
  const write = async (path: string, maker: SiteMaker) => {
    for (let version = 1; version <= 15; version++) {
      askedVersion.set(path, version);
      await maker.change("page", `busy-${path}`, { fields: { v: version } });
      answeredVersion.set(path, version);
    }
  };
  let requests = 0;
  const read = async (index: number) => {
    const hosts = Object.keys(domains);
    for (let turn = index; !writing.isOver || turn < index + 4; turn++) {
      const host = hosts[turn % hosts.length] ?? "";
      const path = paths[(turn * 7 + index) % paths.length] ?? "";
      const lang = turn % 9 === 8 ? undefined : locales[turn % 9];
      const least = answeredVersion.get(path) ?? 0;
      const { status, text } = await (makers[turn % 2] ?? make).at(host, `/${path}${lang ? `?lang=${lang}` : ""}`);
      const most = askedVersion.get(path) ?? 0;
      const [shownHost, shownLang, shownPath, version] = text.split("|");
      expect([status, shownHost, shownLang, shownPath]).toEqual([200, host, lang ?? domains[host] ?? "pl", path]);
      expect(Number(version)).toBeGreaterThanOrEqual(least);
      expect(Number(version)).toBeLessThanOrEqual(most);
      requests++;
    }
  };
  const readers = Array.from({ length: 200 }, (_, index) => read(index));
  await Promise.all(paths.map((path, index) => write(path, makers[index % 2] ?? make)));
  writing.isOver = true;
  await Promise.all(readers);
  expect(requests).toBeGreaterThan(800);
}, 600_000);
