/** Who may write what: every refused write of a site leaves no row and no event, whoever sent it. */
import { describe, expect, test } from "bun:test";
import { refusals, type Refusal } from "../../tests/fixtures/cms-refusals.ts";

const { refused, seen, send } = refusals();

interface Kind {
  readonly name: string;
  readonly plural: string;
  /** A record that is there, by its address. */
  readonly ref: string;
  /** The name of its id, as it was seeded. */
  readonly id: string;
  readonly make: object;
  readonly change: object;
}

const acme = { site_code: "acme" };
const kinds: Kind[] = [
  {
    name: "site",
    plural: "sites",
    ref: "acme",
    id: "acme",
    make: { code: "new", name: "New" },
    change: { name: "Changed" },
  },
  {
    name: "domain",
    plural: "domains",
    ref: "acme.test",
    id: "acme-host",
    make: { name: "new.test", ...acme },
    change: { locale: "de" },
  },
  {
    name: "layout",
    plural: "layouts",
    ref: "main",
    id: "main",
    make: { code: "new", ...acme },
    change: { content: "changed" },
  },
  {
    name: "page",
    plural: "pages",
    ref: "home",
    id: "home",
    make: { code: "new", ...acme },
    change: { html_title: "changed" },
  },
  {
    name: "paragraph",
    plural: "paragraphs",
    ref: "intro",
    id: "intro",
    make: { code: "new", ...acme },
    change: { position: 7 },
  },
  {
    name: "category",
    plural: "categories",
    ref: "news",
    id: "news",
    make: { code: "new", ...acme },
    change: { path: "changed" },
  },
  {
    name: "article",
    plural: "articles",
    ref: "first",
    id: "first",
    make: { title: "New", ...acme },
    change: { lead: "changed" },
  },
];

describe.each(kinds)("a $name", ({ name, plural, ref, id, make, change }) => {
  const list = `/cms/${plural}.json`;
  const one = `/cms/${plural}/${ref}.json`;
  const theirs = "of another account";
  const [made, changed] = [{ [name]: make }, { [name]: change }];
  const inSites = name !== "site" && name !== "domain";
  const cases: [what: string, method: string, path: string, status: number, rest: Refusal][] = [
    ["made without sign-in", "POST", list, 401, { as: null, body: made }],
    ["made by a guest", "POST", list, 403, { as: "guest", body: made, says: "`cms`" }],
    ["made by a user", "POST", list, 403, { as: "user", body: made, says: "`cms`" }],
    ["made by a token for prompts", "POST", list, 403, { as: "prompts only", body: made, says: "`cms`" }],
    ["made outside of its key", "POST", list, 400, { body: make, says: name }],
    ["made of a list", "POST", list, 400, { body: [made], says: "must be a JSON object" }],
    ["made of a text", "POST", list, 400, { body: { [name]: "x" }, says: name }],
    ["changed without sign-in", "PATCH", one, 401, { as: null, body: changed }],
    ["changed by a guest", "PATCH", one, 403, { as: "guest", body: changed, says: "`cms`" }],
    ["changed by a user", "PATCH", one, 403, { as: "user", body: changed, says: "`cms`" }],
    ["changed by a token for prompts", "PATCH", one, 403, { as: "prompts only", body: changed, says: "`cms`" }],
    ["changed by another account", "PATCH", one, 404, { as: theirs, body: changed }],
    ["changed that is not there", "PATCH", `/cms/${plural}/nowhere.json`, 404, { body: changed }],
    ["changed by an id that nothing has", "PATCH", `/cms/${plural}/999999999.json`, 404, { body: changed }],
    ["changed outside of its key", "PATCH", one, 400, { body: change, says: name }],
    ["changed with the tag of an older version", "PATCH", one, 412, { body: changed, ifMatch: `"{${id}}-99"` }],
    ["changed with the tag of another record", "PATCH", one, 412, { body: changed, ifMatch: '"999999999-1"' }],
    ["changed with a tag that is none", "PATCH", one, 412, { body: changed, ifMatch: '"x"' }],
    ["deleted without sign-in", "DELETE", one, 401, { as: null }],
    ["deleted by a guest", "DELETE", one, 403, { as: "guest", says: "`cms`" }],
    ["deleted by a user", "DELETE", one, 403, { as: "user", says: "`cms`" }],
    ["deleted by a token for prompts", "DELETE", one, 403, { as: "prompts only", says: "`cms`" }],
    ["deleted by another account", "DELETE", one, 404, { as: theirs }],
    ["deleted that is not there", "DELETE", `/cms/${plural}/nowhere.json`, 404, {}],
    ["deleted with the tag of an older version", "DELETE", one, 412, { ifMatch: `"{${id}}-99"` }],
  ];
  const ambiguous = { says: "several sites have" };
  const twins: typeof cases = [
    ["changed by a code of two sites", "PATCH", `/cms/${plural}/twin.json`, 409, { body: changed, ...ambiguous }],
    ["deleted by a code of two sites", "DELETE", `/cms/${plural}/twin.json`, 409, ambiguous],
    ["changed in a site without it", "PATCH", `${one}?site_code=shop`, 404, { body: changed }],
    ["deleted in a site without it", "DELETE", `${one}?site_code=shop`, 404, {}],
    ["changed in no site", "PATCH", `${one}?site_code=none`, 404, { body: changed }],
    ["changed in a site that is not there", "PATCH", `${one}?site_code=nowhere`, 404, { body: changed }],
    ["changed in another account's site", "PATCH", `${one}?site_code=theirs`, 404, { body: changed }],
  ];

  test.each([...cases, ...(inSites ? twins : [])])("%s", async (_, method, path, status, rest) => {
    await refused(method, path, status, rest);
  });

  test.each(["manager", "cms only"])("changed by a %s is seen", async (as) => {
    const before = await seen();
    const answer = await send("PATCH", one, { as, body: changed });
    expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
    const table = `cms_${plural}`;
    const after = await seen();
    expect(after[table]).not.toBe(before[table]);
    if (name === "page" || name === "article") expect(after["events"]).not.toBe(before["events"]);
    else expect(after["events"]).toBe(before["events"]);
  });
});

const verify = "/cms/domains/acme.test/verify.json";
const proofs: [what: string, path: string, status: number, rest: Refusal][] = [
  ["without sign-in", verify, 401, { as: null }],
  ["by a guest", verify, 403, { as: "guest", says: "`cms`" }],
  ["by a token for prompts", verify, 403, { as: "prompts only", says: "`cms`" }],
  ["by another account", verify, 404, { as: "of another account" }],
  ["of a domain that is not there", "/cms/domains/nowhere.test/verify.json", 404, {}],
  ["of what is no name", "/cms/domains/a%20b/verify.json", 404, {}],
];

test.each(proofs)("the proof of a domain %s", async (_, path, status, rest) => {
  await refused("POST", path, status, { body: {}, ...rest });
});

test("many requests to delete one page: one of them does, the others are 404", async () => {
  await send("POST", "/cms/pages.json", { body: { page: { code: "once", site_code: "acme", path: "once" } } });
  const answers = await Promise.all(Array.from({ length: 6 }, () => send("DELETE", "/cms/pages/once.json")));
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([204, 404, 404, 404, 404, 404]);
});
