/**
 * A server with two sites of one account and one of another, for tables of refused writes. A refused write leaves every
 * row as it was and makes no event.
 */
import { afterAll, beforeAll, expect } from "bun:test";
import { otherAccount, person, startTestApp, type Answer, type TestApp } from "../../tests/harness.ts";
import { siteMaker } from "../../tests/sites.ts";
import { follower, traces } from "../../tests/traces.ts";
import { plugins } from "../index.ts";

export interface Refusal {
  /** The name of a token below; null = not signed in. Default: the administrator. */
  readonly as?: string | null;
  readonly body?: unknown;
  readonly ifMatch?: string;
  /** Every field of a 422 with its messages, or part of another refusal's text. */
  readonly says?: Readonly<Record<string, string | readonly string[]>> | string;
}

const tables = [
  "cms_sites",
  "cms_domains",
  "cms_layouts",
  "cms_pages",
  "cms_redirects",
  "cms_paragraphs",
  "cms_categories",
  "cms_articles",
  "cms_article_categories",
];

export function refusals() {
  let app: TestApp;
  const tokens: Record<string, string> = {};
  const ids: Record<string, number> = {};

  beforeAll(async () => {
    app = await startTestApp({ plugins: [...plugins, follower] });
    tokens["user"] = (await person(app)).token;
    tokens["guest"] = (await person(app, { role: "guest" })).token;
    tokens["manager"] = (await person(app, { role: "manager" })).token;
    tokens["prompts only"] = (await person(app, { role: "admin", narrowedTo: ["prompts"] })).token;
    tokens["cms only"] = (await person(app, { role: "admin", narrowedTo: ["cms"] })).token;
    await seed(app, ids);
    const other = await otherAccount(app);
    tokens["of another account"] = other.adminToken;
    await other.post("/cms/sites.json", { site: { code: "theirs", name: "Theirs" } });
    const theirs = await other.post("/cms/pages.json", { page: { code: "their-page", site_code: "theirs" } });
    ids["their-page"] = theirs.json.id;
  });
  afterAll(() => app.stop());

  /** Replaces `{code}` in a path, a tag or a text of the body by the id of the seeded record. */
  const withIds = (text: string) => text.replaceAll(/\{([a-z-]+)\}/g, (whole, name: string) => `${ids[name] ?? whole}`);
  const withNumbers = (text: string) => text.replaceAll(/"(\{[a-z-]+\})"/g, "$1");

  const send = async (method: string, path: string, { as, body, ifMatch }: Refusal = {}): Promise<Answer> => {
    const token = as === undefined ? {} : { token: as === null ? null : (tokens[as] ?? "") };
    const text: string | undefined = JSON.stringify(body);
    return app.request(method, withIds(path), text === undefined ? undefined : JSON.parse(withIds(withNumbers(text))), {
      ...token,
      headers: ifMatch === undefined ? {} : { "if-match": withIds(ifMatch) },
    });
  };

  return {
    send,
    seen: () => traces(app, ...tables),
    /** Sends the request and expects this refusal and no trace of it. */
    refused: async (method: string, path: string, status: number, { says, ...rest }: Refusal): Promise<void> => {
      const before = await traces(app, ...tables);
      const answer = await send(method, path, rest);
      expect([answer.status, answer.text]).toEqual([status, expect.any(String)]);
      if (typeof says === "string") expect(answer.json.error).toContain(says);
      else if (says)
        expect(answer.json).toEqual(
          Object.fromEntries(Object.entries(says).map(([name, text]) => [name, [text].flat()])),
        );
      expect(await traces(app, ...tables)).toEqual(before);
    },
  };
}

async function seed(app: TestApp, ids: Record<string, number>): Promise<void> {
  const make = siteMaker(app);
  for (const code of ["acme", "shop"]) {
    ids[code] = (await make.site({ code, name: code, locale: "pl", multilang: true })).id;
    // Both sites have this code, so an address must say which one is meant.
    await make.layout({ code: "twin", site_code: code });
    await make.page({ code: "twin", site_code: code, path: "twin" });
    await make.paragraph({ code: "twin", site_code: code });
    await make.category({ code: "twin", site_code: code });
    await make.article({ code: "twin", site_code: code, title: "Twin" });
  }
  const acme = { site_code: "acme" };
  const kept = async (name: string, record: Promise<{ readonly id: number }>) => {
    ids[name] = (await record).id;
  };
  await kept("acme-host", make.domain({ name: "acme.test", ...acme }));
  await make.domain({ name: "www.acme.test", locale: "en", ...acme });
  await kept("main", make.layout({ code: "main", content: "{{ content }}", ...acme }));
  await kept("shop-layout", make.layout({ code: "shop-layout", site_code: "shop" }));
  await kept("home", make.page({ code: "home", path: "", layout_code: "main", ...acme }));
  await kept("offer", make.page({ code: "offer", path: "oferta", locale: "pl", ...acme }));
  await kept(
    "offer-en",
    make.page({ code: "offer-en", path: "offer", locale: "en", based_on_page_code: "offer", ...acme }),
  );
  await kept("lone", make.page({ code: "lone", path: "lone", locale: "pl", ...acme }));
  await kept("shop-page", make.page({ code: "shop-page", path: "shop", site_code: "shop" }));
  await kept("intro", make.paragraph({ code: "intro", page_code: "home", ...acme }));
  await kept("footer", make.paragraph({ code: "footer", ...acme }));
  await kept("everywhere", make.paragraph({ code: "everywhere" }));
  await kept("news", make.category({ code: "news", path: "nowosci", ...acme }));
  await make.category({ code: "events", ...acme });
  await make.category({ code: "shop-news", site_code: "shop" });
  const article = { category_code: "news", locale: "pl", published_at: "2026-01-31", ...acme };
  await kept("first", make.article({ code: "first", title: "First", path: "first", ...article }));
  await make.article({ code: "second", title: "Second", path: "second", ...article });
}

/** An object with this many levels of objects. */
export function deep(levels: number): object {
  return levels === 1 ? { a: 1 } : { a: deep(levels - 1) };
}

/** What is wrong, the fields of the body, and each field of the answer with its one message. */
export type Wrong = [what: string, fields: object, says: Readonly<Record<string, string>>];

export const notACode = "must be letters, digits, -, _ and . inside, and not a number alone";
export const holdsToken = "holds a real token, which visitors could read";
