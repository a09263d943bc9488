/** Refused writes of sites and domains: each names its field, and leaves no row and no event. */
import { expect, test } from "bun:test";
import { adminToken as token } from "../../../tests/harness.ts";
import { deep, notACode, holdsToken, refusals, type Wrong } from "../../../tests/fixtures/cms-refusals.ts";

const { refused, seen, send } = refusals();
const notAHost = "must be a host name such as www.example.com, without https:// and without a path";

const wrongSite: Wrong[] = [
  ["a blank name", { name: " " }, { name: "must be not blank" }],
  ["a name of another type", { name: 5 }, { name: "must be a string" }],
  ["a name that is too long", { name: "n".repeat(256) }, { name: "may have at most 255 characters" }],
  ["a taken code", { code: "acme" }, { code: "is already taken" }],
  ["a number for a code", { code: "12" }, { code: notACode }],
  ["a code with a blank", { code: "a b" }, { code: notACode }],
  ["a code that ends as an address may", { code: "a.json" }, { code: notACode }],
  ["a code that is too long", { code: "c".repeat(101) }, { code: "may have at most 100 characters" }],
  ["an unknown locale", { name: "New", locale: "it" }, { locale: "must be one of pl, en, fr, cs, sk, de, es, uk" }],
  [
    "a flag that is neither true nor false",
    { name: "New", multilang: "maybe" },
    { multilang: "must be true or false" },
  ],
  ["fields that are a list", { name: "New", fields: [] }, { fields: "must be an object" }],
  ["fields that are too deep", { name: "New", fields: deep(21) }, { fields: "may nest at most 20 levels deep" }],
  [
    "fields that are too long",
    { name: "New", fields: { a: "x".repeat(500_000) } },
    { fields: "may have at most 500000 characters as JSON" },
  ],
  ["a real token", { name: "New", fields: { a: token } }, { fields: holdsToken }],
  [
    "several of them",
    { name: "", locale: "xx", active: 7 },
    {
      name: "can't be blank",
      locale: "must be one of pl, en, fr, cs, sk, de, es, uk",
      active: "must be true or false",
    },
  ],
];
const wrongNewSite: Wrong[] = [["neither a name nor a code", {}, { name: "is required" }]];
test.each([...wrongSite, ...wrongNewSite])("a new site with %s", async (_, fields, says) => {
  await refused("POST", "/cms/sites.json", 422, { body: { site: { ...fields } }, says });
});
test.each(wrongSite)("a site that is changed to %s", async (_, fields, says) => {
  await refused("PATCH", "/cms/sites/shop.json", 422, { body: { site: fields }, says });
});
const wrongDomain: Wrong[] = [
  ["no name", { site_code: "acme" }, { name: "is required" }],
  ["no site", { name: "new.test" }, { site_code: "is required" }],
  [
    "a site that is not there",
    { name: "new.test", site_code: "nowhere" },
    { site_code: "names no site of this account" },
  ],
  ["another account's site", { name: "new.test", site_code: "theirs" }, { site_code: "names no site of this account" }],
  [
    "the code of one site and the id of another",
    { name: "new.test", site_code: "acme", site_id: "{shop}" },
    { site_id: "names no site of this account" },
  ],
  ["a blank name", { name: " ", site_code: "acme" }, { name: "must be not blank" }],
  ["an address for a name", { name: "https://new.test", site_code: "acme" }, { name: notAHost }],
  ["a path behind the name", { name: "new.test/a", site_code: "acme" }, { name: notAHost }],
  [
    "a numeric address",
    { name: "10.0.0.1", site_code: "acme" },
    { name: "is not a public host name: numeric addresses and names without a dot are refused" },
  ],
  [
    "a name without a dot",
    { name: "intranet", site_code: "acme" },
    { name: "is not a public host name: numeric addresses and names without a dot are refused" },
  ],
  ["a port that no host has", { name: "new.test:99999", site_code: "acme" }, { name: notAHost }],
  ["an underscore", { name: "new_one.test", site_code: "acme" }, { name: notAHost }],
  ["a host that the site has", { name: "ACME.test.", site_code: "acme" }, { name: "is already taken" }],
  ["a host that another site has", { name: "acme.test", site_code: "shop" }, { name: "is already taken" }],
  [
    "an unknown locale",
    { name: "new.test", site_code: "acme", locale: "xx" },
    { locale: "must be one of pl, en, fr, cs, sk, de, es, uk or empty" },
  ],
  [
    "a flag that is neither true nor false",
    { name: "new.test", site_code: "acme", primary: "first" },
    { primary: "must be true or false" },
  ],
];
const wrongDomainChange: Wrong[] = [
  ["another site", { site_code: "shop" }, { site_code: "cannot be changed" }],
  ["another site's id", { site_id: "{shop}" }, { site_id: "cannot be changed" }],
  ["a host that the site has already", { name: "www.acme.test" }, { name: "is already taken" }],
  ["a name that is not a host", { name: "a b" }, { name: notAHost }],
  [
    "no primary domain at all",
    { primary: false },
    { primary: "cannot be false: make another domain of the site the primary instead" },
  ],
  ["an unknown locale", { locale: "pl-PL" }, { locale: "must be one of pl, en, fr, cs, sk, de, es, uk or empty" }],
];
test.each(wrongDomain)("a new domain with %s", async (_, fields, says) => {
  await refused("POST", "/cms/domains.json", 422, { body: { domain: { ...fields } }, says });
});
test.each(wrongDomainChange)("a domain that is changed to %s", async (_, fields, says) => {
  await refused("PATCH", "/cms/domains/acme.test.json", 422, { body: { domain: fields }, says });
});
test("what is accepted is seen: the rows of a site and its domain, and no event, which only pages and articles make", async () => {
  const before = await seen();
  expect((await send("POST", "/cms/sites.json", { body: { site: { code: "fine" } } })).status).toBe(201);
  expect(
    (await send("POST", "/cms/domains.json", { body: { domain: { name: "fine.test", site_code: "fine" } } })).status,
  ).toBe(201);
  const after = await seen();
  const changed = Object.keys(after).filter((name) => after[name] !== before[name]);
  expect(changed.toSorted()).toEqual(["cms_domains", "cms_sites"]);
});

test("many requests for one host at once: one domain is made, the others are refused under its name", async () => {
  const body = (site_code: string) => ({ body: { domain: { name: "race.test", site_code } } });
  const sent = Array.from({ length: 6 }, (_, at) =>
    send("POST", "/cms/domains.json", body(at % 2 === 0 ? "acme" : "shop")),
  );
  const answers = await Promise.all(sent);
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
  for (const { status, json } of answers)
    if (status !== 201) expect([status, json]).toEqual([422, { name: ["is already taken"] }]);
});
