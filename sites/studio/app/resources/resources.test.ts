import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startTestApp, type TestApp } from "../../../../tests/harness.ts";
import { addressIn, addressOf, placeOf, recordOf, wordsBelow } from "../address.ts";
import {
  fieldsOf,
  inputsOf,
  inWords,
  mattering,
  messagesByField,
  startingValues,
  typed,
  type FormField,
} from "./forms.ts";
import { canDo, wordOf } from "../kit/action.ts";
import { joined, objectIn, partsFor, split } from "../forms/parts.ts";
import { referenceOf, relatedLists, singularOf } from "./references.ts";
import { allColumns, apiQuery, canSort, filtersOf, idOf, shownColumns, sortedRows } from "./list.ts";
import { modules } from "./names.ts";
import type { Document } from "./openapi.ts";
import { filled, filledFrom, privilegesOf, resourcesOf, type Resource } from "./resources.ts";
import english from "../text/en.json" with { type: "json" };

let app: TestApp;
let document: Document;
let resources: Resource[];
beforeAll(async () => {
  app = await startTestApp();
  document = (await app.get("/openapi.json", { token: null })).json;
  resources = resourcesOf(document);
});
afterAll(() => app.stop());

function resource(path: string): Resource {
  const found = resources.find((one) => one.path === path);
  if (!found) throw new Error(`there is no resource ${path}`);
  return found;
}
const known = () => ({ resources, privileges: privilegesOf(document) });
function fieldOf(path: string, name: string): FormField {
  const schema = resource(path).create?.body?.schema ?? {};
  const field = fieldsOf(schema, known()).find((one) => one.name === name);
  if (!field) throw new Error(`${path} has no field ${name}`);
  return field;
}

describe("resources", () => {
  test("of the menu are all there, with a list", () => {
    const paths = resources.map(({ path }) => path);
    expect(modules.flatMap((module) => module.paths).filter((path) => !paths.includes(path))).toEqual([]);
  });

  test.each([
    ["/core/prompts", "prompts", ["create", "read", "update", "remove"]],
    ["/connect/flow_processes", "flows", ["read"]],
    ["/core/dbs/{db_id}/records", "dbs", ["create", "read", "update", "remove"]],
    ["/account/webhooks/{id}/deliveries", "webhooks", ["read"]],
    ["/core/prompts/system", undefined, []],
  ] as const)("%s needs %s and can %p", (path, privilege, can) => {
    const found = resource(path);
    expect(found.privilege).toBe(privilege);
    expect((["create", "read", "update", "remove"] as const).filter((verb) => found[verb])).toEqual([...can]);
  });

  test.each([
    ["/account/crons", ["run"]],
    ["/connect/flow_processes", ["retry", "cancel"]],
    ["/account/webhooks", ["rotate_secret", "redeliver", "test", "preview"]],
    ["/connect/connectors", ["{method_name}"]],
    ["/connect/flows", ["run", "test"]],
    ["/account/webhooks/{id}/deliveries", ["redeliver"]],
    ["/cms/domains", ["verify"]],
    ["/core/dbs", []],
    ["/core/prompts", []],
  ] as const)("%s has the actions %p", (path, words) => {
    const found = resource(path).actions.map((action) => action.path.replace(".json", "").split("/").at(-1));
    expect(found).toEqual([...words]);
  });

  test.each([
    ["/connect/flow_processes", { status: "error" }, ["retry"]],
    ["/connect/flow_processes", { status: "pending" }, ["cancel"]],
    ["/connect/flow_processes", { status: "finished" }, []],
    ["/connect/flow_processes", undefined, []],
    ["/account/crons", undefined, ["run"]],
    ["/connect/flows", { active: true }, ["run", "test"]],
    ["/connect/flows", { active: false }, ["test"]],
    ["/connect/connectors", { active: false }, []],
    ["/account/users", { active: false }, []],
    ["/account/webhooks", { active: false }, ["rotate_secret", "preview"]],
    ["/cms/domains", { status: "approved" }, []],
    ["/cms/domains", { status: "pending" }, ["verify"]],
    ["/core/dbs/{db_id}/tasks", { status: "running", kind: "import" }, []],
    ["/core/dbs/{db_id}/tasks", { status: "running", kind: "update" }, ["stop"]],
  ])("one of %s with %j is offered %p", (path, record, words) => {
    expect(
      resource(path)
        .actions.filter((action) => canDo(action, record))
        .map(wordOf),
    ).toEqual(words);
  });

  test.each([
    ["/connect/flow_processes", "status", ["pending", "finished", "error"]],
    ["/account/users", "role", ["admin", "manager", "user", "guest"]],
    ["/account/webhooks", "target_kind", ["url", "connector", "flow"]],
    ["/account/webhooks/{id}/deliveries", "status", ["pending", "delivered", "failed"]],
    ["/core/prompts", "scope", ["user", "team", "department", "account"]],
    ["/core/dbs/{db_id}/tasks", "kind", ["import", "export", "reindex", "update", "delete"]],
    ["/core/apps", "app_engine", ["svelte", "vue", "react", "js", "html", "kaboom", "phaser"]],
    ["/cms/sites", "locale", ["pl", "en", "fr", "cs", "sk", "de", "es", "uk"]],
    ["/cms/pages", "locale", ["pl", "en", "fr", "cs", "sk", "de", "es", "uk", "none"]],
    ["/core/prompts", "code", undefined],
  ])("%s is filtered by a %s among %p", (path, name, values) => {
    expect(filtersOf(resource(path)).find((one) => one.name === name)?.schema.enum).toEqual(values);
  });

  test.each([
    ["/account/api_tokens", "for_account", { values: ["yes"] }],
    ["/connect/connectors", "kind", { values: expect.arrayContaining(["core/smtp"]) }],
    ["/account/crons", "target_code", { path: "/connect/flows.json", value: "code" }],
    ["/account/webhooks", "source_type", { path: "/account/webhooks/source_types.json", value: "source_type" }],
  ])("%s is filtered by a %s from %p", (path, name, source) => {
    const found = filtersOf(resource(path)).find((one) => one.name === name);
    expect(found?.schema["x-choices"]).toEqual([source]);
  });

  test("are ordered by their columns, not by a filter", () => {
    expect(filtersOf(resource("/core/prompts")).map(({ name }) => name)).toEqual(["q", "code", "kind", "scope"]);
  });

  test.each([
    [
      "/core/dbs",
      [
        "/core/dbs/{db_id}/used_by",
        "/core/dbs/{db_id}/deleted_fields",
        "/core/dbs/{db_id}/records",
        "/core/dbs/{db_id}/people",
        "/core/dbs/{db_id}/tasks",
        "/core/dbs/{db_id}/indexes",
      ],
    ],
    ["/core/prompts", ["/core/prompts/{id}/versions"]],
    ["/account/webhooks", ["/account/webhooks/{id}/deliveries"]],
    ["/cms/sites", ["/cms/sites/{id}/check", "/cms/sites/{id}/translations", "/cms/sites/{id}/texts"]],
    ["/connect/connectors", ["/connect/connectors/{id}/methods", "/connect/connectors/{id}/used_by"]],
    ["/account/teams", []],
  ] as const)("below one of %s is %p", (path, children) => expect(resource(path).children).toEqual([...children]));

  test("know which changes take If-Match", () => {
    expect(resource("/core/prompts").update?.ifMatch).toBe(true);
  });

  test("privileges are those that routes ask for", () => {
    expect(privilegesOf(document)).toEqual(
      expect.arrayContaining(["api_tokens", "apps", "cms", "crons", "dbs", "flows", "prompts", "users", "webhooks"]),
    );
  });
});

describe("addresses", () => {
  test.each([
    ["/studio", "home", undefined, []],
    ["/studio/", "home", undefined, []],
    ["/studio/core/prompts", "list", "/core/prompts", []],
    ["/studio/core/prompts/new", "new", "/core/prompts", []],
    ["/studio/core/prompts/01a2", "item", "/core/prompts", ["01a2"]],
    ["/studio/core/prompts/system", "list", "/core/prompts/system", []],
    ["/studio/account/people/1", "item", "/account/users", ["1"]],
    ["/studio/account/users", "missing", undefined, []],
    ["/studio/core/dbs/people/records", "list", "/core/dbs/{db_id}/records", ["people"]],
    ["/studio/core/dbs/a%20b/records/x%2Fy", "item", "/core/dbs/{db_id}/records", ["a b", "x/y"]],
    ["/studio/core/dbs/people/records/new", "new", "/core/dbs/{db_id}/records", ["people"]],
    ["/studio/connect/processes/new", "item", "/connect/flow_processes", ["new"]],
    ["/studio/core/dbs/%E0%A4%A/records", "list", "/core/dbs/{db_id}/records", ["%E0%A4%A"]],
    ["/studio/connect", "module", undefined, []],
    ["/studio/crm/apps/deals", "app", undefined, []],
    ["/studio/nothing/here/at/all", "missing", undefined, []],
  ] as const)("%s is a %s of %s", (address, kind, path, values) => {
    const place = placeOf(address, resources, []);
    expect(place.kind).toBe(kind);
    if (!("resource" in place)) return;
    expect([place.resource.path, [...place.values]] as unknown[]).toEqual([path, [...values]]);
    const suffix = kind === "new" ? "/new" : "";
    expect(decodeURI(addressOf(place.resource, place.values).replace("%25E0%25A4%25A", "")) + suffix).toBe(
      decodeURI(address.replace("%E0%A4%A", "")),
    );
  });

  test("of a plugin's page come first, a literal part before a parameter", () => {
    const pages = [{ path: "core/prompts/:id" }, { path: "core/prompts/map" }];
    expect(placeOf("/studio/core/prompts/7", resources, pages)).toEqual({
      kind: "page",
      page: pages[0]!,
      params: { id: "7" },
    });
    expect(placeOf("/studio/core/prompts/map", resources, pages)).toMatchObject({ kind: "page", page: pages[1] });
    expect(placeOf("/studio/core/prompts", resources, pages)).toMatchObject({ kind: "list" });
    expect(recordOf(pages[0]!, { id: "7" })).toBe("7");
    expect(recordOf({ path: "cms/:site/pages" }, { site: "acme" })).toBeUndefined();
  });

  test("of an app come before a plugin's page of the same form", () => {
    const pages = [{ path: "cms/:site/pages" }];
    const at = (word: string) =>
      placeOf(`/studio/cms/${word}/pages`, resources, pages, { cms: [{ url_code: "pages" }] });
    expect(at("apps")).toEqual({ kind: "app", module: "cms", urlCode: "pages" });
    expect(at("acme")).toMatchObject({ kind: "page" });
    expect(placeOf("/studio/cms/apps/pages", resources, pages)).toMatchObject({ kind: "page" });
  });

  test.each([
    ["core/dbs/:db_id/schema", "/core/dbs", "schema"],
    ["account/people/:id/sessions", "/account/users", "sessions"],
    ["core/dbs/:db_id", "/core/dbs", undefined],
    ["core/dbs/new", "/core/dbs", undefined],
    ["core/dbs/new/schema", "/core/dbs", undefined],
    ["core/dbs/:db_id/schema", "/core/apps", undefined],
    ["core/dbs/:db_id/records/:id", "/core/dbs", undefined],
  ])("of the page %s are below one of %s as %s", (page, path, words) => {
    expect(wordsBelow(page, { path })).toBe(words);
  });

  test("of a page that says which item it belongs to are those of its tab", () => {
    const of = "/cms/sites";
    const at = (path: string, list: string) => addressIn({ path, of }, { path: list }, ["a/b"]);
    expect(at("cms/:site/checks", of)).toBe("/studio/cms/a%2Fb/checks");
    expect([at("cms/:site/checks", "/cms/pages"), at("cms/:site/pages/:id", of)]).toEqual([undefined, undefined]);
    expect(at("cms/:site/pages/new", of)).toBeUndefined();
  });

  test("fill the parameters of a path, encoded", () => {
    expect(filled("/core/dbs/{db_id}/records/{id}.json", ["a/b", "ü"])).toBe("/core/dbs/a%2Fb/records/%C3%BC.json");
  });
});

describe("lists", () => {
  test("ask for what the API knows", () => {
    const search = new URLSearchParams("kind=agent&cols=name&q=&limit=7&offset=50&nonsense=1");
    expect(apiQuery(resource("/core/prompts"), search).toString()).toBe("kind=agent&offset=50&limit=50");
    const records = new URLSearchParams("filter[age][gt]=3&sort=-age&open=1");
    expect(decodeURIComponent(apiQuery(resource("/core/dbs/{db_id}/records"), records).toString())).toContain(
      "sort=-age",
    );
  });

  test("show the columns of interest first, and what the address asks for", () => {
    const prompts = resource("/core/prompts");
    const all = allColumns(prompts, []);
    expect(all.slice(0, 3)).toEqual(["name", "code", "kind"]);
    expect(shownColumns(prompts, all, null)).not.toContain("content");
    expect(shownColumns(prompts, all, "code,content,unknown")).toEqual(["code", "content"]);
    const processes = resource("/connect/flow_processes");
    expect(shownColumns(processes, allColumns(processes, []), null)).not.toContain("steps");
    // The code says what the number of the same thing says, and a person can read it.
    const layouts = resource("/cms/layouts");
    const shown = shownColumns(layouts, allColumns(layouts, []), null);
    expect(shown).toEqual(["name", "code", "site_code", "created_at", "updated_at"]);
    const crons = resource("/account/crons");
    expect(shownColumns(crons, allColumns(crons, []), null)).toContain("next_run_at");
  });

  test("have filters, and may be sorted where the API can", () => {
    expect(filtersOf(resource("/core/apps")).map(({ name }) => name)).toEqual(
      expect.arrayContaining(["q", "app_engine", "active", "public"]),
    );
    expect(canSort(resource("/core/dbs/{db_id}/records"))).toBe(true);
  });

  test("that the server does not sort are fetched whole and sorted here", () => {
    const search = new URLSearchParams("sort=-name&offset=50");
    expect(apiQuery(resource("/connect/flows"), search).toString()).toBe("limit=1000");
    const rows = [{ n: "b10" }, { n: null }, { n: "B9" }, { n: "a" }];
    const by = (sort: string | null) => sortedRows(rows, sort, "en").map((row) => (row as { n: unknown }).n);
    expect(by("n")).toEqual(["a", "B9", "b10", null]);
    expect(by("-n")).toEqual(["b10", "B9", "a", null]);
    expect(by(null)).toEqual(["b10", null, "B9", "a"]);
    expect(sortedRows([{ n: 10 }, { n: 9 }], "n", "en")).toEqual([{ n: 9 }, { n: 10 }]);
  });

  test("without names begin with the id, and show large values if there is little else", () => {
    const processes = resource("/connect/flow_processes");
    expect(allColumns(processes, [])[0]).toBe("id");
    const rows = [{ id: "019a9c1e-0000-7000-8000-000000000003", created_by_id: 1, status: "new", city: "Ulm" }];
    const bare = { ...processes, list: { ...processes.list, answer: {} } };
    expect(allColumns(bare, rows)[0]).toBe("city");
    expect(shownColumns(bare, allColumns(bare, rows), null)).not.toContain("id");
    const translations = resource("/cms/sites/{id}/translations");
    expect(shownColumns(translations, allColumns(translations, []), null)).toContain("locales");
  });

  test.each([
    [{ id: "u1", code: "a" }, "/core/prompts", "u1"],
    [{ id: 7 }, "/account/users", "7"],
    [{ name: "no id" }, "/account/users", undefined],
    [{ id: 7 }, "/account/webhooks/source_types", undefined],
    [null, "/account/users", undefined],
  ] as const)("address %p of %s by %s", (row, path, id) => expect(idOf(row, resource(path))).toBe(id));
});

describe("forms", () => {
  test.each([
    ["/core/prompts", "name", "line", true],
    ["/core/prompts", "content", "text", true],
    ["/core/prompts", "kind", "choice", false],
    ["/account/users", "privileges", "choices", false],
    ["/account/users", "team_ids", "lookups", false],
    ["/account/users", "password", "secret", false],
    ["/account/users", "active", "flag", false],
    ["/core/apps", "db_code", "lookup", false],
    ["/core/dbs", "schema", "json", false],
    ["/account/webhooks", "rate_limit", "number", false],
    ["/account/webhooks", "source_type", "lookup", true],
    ["/account/webhooks", "api_token", "secret", false],
    ["/account/crons", "target_code", "lookup", true],
    ["/connect/connectors", "kind", "lookup", false],
    ["/connect/connectors", "secret_token", "secret", false],
    ["/connect/connectors", "url", "line", true],
    ["/cms/sites", "name", "line", true],
    ["/cms/sites", "code", "line", false],
    ["/cms/pages", "site_code", "lookup", true],
    ["/cms/paragraphs", "site_code", "lookup", false],
    ["/cms/pages", "path", "line", false],
    ["/cms/pages", "based_on_page_code", "lookup", false],
    ["/cms/articles", "published_at", "time", false],
    ["/cms/articles", "categories", "lookups", false],
    ["/cms/articles", "content", "text", false],
  ] as const)("%s: %s is a %s (required: %p)", (path, name, kind, required) => {
    const field = fieldOf(path, name);
    expect([field.kind, field.required]).toEqual([kind, required]);
  });

  test.each([
    ["/core/prompts", "ai_placeholder", "", null],
    ["/core/prompts", "name", "", ""],
    ["/account/webhooks", "rate_limit", "12", 12],
    ["/account/webhooks", "rate_limit", "1e2", 100],
    ["/account/webhooks", "rate_limit", "", null],
    ["/core/dbs", "schema", '{"fields":{}}', { fields: {} }],
    ["/account/users", "team_ids", ["3", "4"], [3, 4]],
    ["/account/users", "password", "", undefined],
    ["/core/apps", "db_code", "7", "7"],
  ] as const)("%s: %s typed as %p is %p", (path, name, input, value) => {
    expect(typed(fieldOf(path, name), input)).toEqual({ value: value as unknown });
  });

  test.each([
    ["/account/webhooks", "rate_limit", "twelve", "number"],
    ["/account/webhooks", "rate_limit", " ", "number"],
    ["/account/webhooks", "rate_limit", "Infinity", "number"],
    ["/core/dbs", "schema", "{", "json"],
  ] as const)("%s: %s typed as %p is no %s", (path, name, input, mistake) => {
    expect(typed(fieldOf(path, name), input)).toEqual({ mistake });
  });

  test("never show a secret, and show values as they are typed", () => {
    const fields = ["password", "active", "team_ids", "name"].map((name) => fieldOf("/account/users", name));
    expect(inputsOf(fields, { password: "x", active: true, team_ids: [3], name: "<b>" })).toEqual({
      password: "",
      active: true,
      team_ids: ["3"],
      name: "<b>",
    });
  });

  test("of a new record show what is active by itself", () => {
    const fields = ["active", "name", "role"].map((name) => fieldOf("/account/users", name));
    expect(startingValues(fields)).toEqual({ active: true });
  });

  test("ask for a reference once, and first for what others depend on", () => {
    const names = fieldsOf(resource("/cms/pages").create?.body?.schema ?? {}, known()).map(({ name }) => name);
    expect(names.slice(0, 3)).toEqual(["code", "name", "site_code"]);
    expect(names).toEqual(expect.arrayContaining(["layout_code", "based_on_page_code"]));
    expect(names.filter((name) => name.endsWith("_id"))).toEqual([]);
  });

  test.each([
    [{ target_kind: "" }, ["url", "api_token"]],
    [{ target_kind: "url" }, ["url", "api_token"]],
    [{ target_kind: "flow" }, ["target_code"]],
    [{ target_kind: "flow", url: "https://old.example" }, ["target_code"]],
    [{ target_kind: "", target_code: "old" }, ["url", "target_code", "api_token"]],
  ])("of a webhook with %p show %p", (inputs, names) => {
    const fields = fieldsOf(resource("/account/webhooks").create?.body?.schema ?? {}, known());
    const depending = new Set(["url", "target_code", "api_token"]);
    const shown = mattering(fields, inputs).map(({ name }) => name);
    expect(shown.filter((name) => depending.has(name))).toEqual(names);
  });

  test("of a new connector begin with the first kind, and know what each kind holds", () => {
    const fields = fieldsOf(resource("/connect/connectors").create?.body?.schema ?? {}, known());
    expect(startingValues(fields)).toEqual({ kind: "core/custom_connector", active: true });
    const holder = fieldOf("/connect/connectors", "fields");
    const partsOf = (kind: string) => Object.keys(partsFor(holder, { kind }).properties ?? {});
    expect(partsOf("core/custom_connector")).toEqual(["methods", "auth"]);
    expect(partsOf("")).toEqual(["methods", "auth"]);
    expect(partsOf("core/smtp")).toEqual(expect.arrayContaining(["user", "from", "methods"]));
    expect(partsOf("unknown")).toEqual([]);
  });

  test("put a mistake of a part at the field that holds it", () => {
    const fields = [fieldOf("/connect/flows", "name"), fieldOf("/connect/flows", "fields")];
    expect(messagesByField(fields, { program: ["program[0].connector is required"] })).toEqual({
      byField: { fields: ["program[0].connector is required"] },
      others: [],
    });
  });

  test("put each message at its field, and the others together", () => {
    const fields = [fieldOf("/core/prompts", "name"), fieldOf("/core/prompts", "code")];
    const errors = { name: ["is required"], "code[0].x": ["is wrong"], base: ["too many"], scope_id: ["is unknown"] };
    expect(messagesByField(fields, errors)).toEqual({
      byField: { name: ["is required"], code: ["code[0].x: is wrong"] },
      others: ["too many", "Scope id is unknown"],
    });
  });
});

describe("references", () => {
  test.each([
    ["/connect/flow_processes", "flow_process"],
    ["/cms/categories", "category"],
    ["/account/users", "user"],
  ])("%s has items called %s", (path, singular) => expect(singularOf(resource(path))).toBe(singular));

  test.each([
    ["flow_code", { flow_code: "daily" }, "/studio/connect/flows/daily"],
    ["flow_process_id", { flow_process_id: "p1" }, "/studio/connect/processes/p1"],
    ["cron_id", { cron_id: 3 }, "/studio/account/crons/3"],
    ["created_by_id", { created_by_id: 7 }, "/studio/account/people/7"],
    ["layout_code", { layout_code: "main", layout_id: 4 }, "/studio/cms/layouts/4"],
    ["based_on_page_id", { based_on_page_id: 2 }, "/studio/cms/pages/2"],
    ["target_code", { target_code: "crm", target_kind: "connector" }, "/studio/connect/connectors/crm"],
    ["target_code", { target_code: "daily", kind: "flow" }, "/studio/connect/flows/daily"],
    ["target_code", { target_code: "daily", kind: "create", target_kind: null }, undefined],
    ["created_by_id", { created_by_id: null }, undefined],
    ["message_id", { message_id: "m" }, undefined],
    ["path", { path: "/account/webhooks/3.json" }, "/studio/account/webhooks/3"],
    ["path", { path: "/account/nothing/3.json" }, undefined],
    ["path", { path: "about/us" }, undefined],
    ["name", { name: "flow" }, undefined],
  ] as const)("%s of %p leads to %p", (name, row, address) => {
    expect(referenceOf(name, row, resources)).toBe(address);
  });

  test("lead from a thing to the lists about it", () => {
    const addresses = (path: string, record: Record<string, unknown>) =>
      relatedLists(resource(path), record, resources).map(({ address }) => address);
    expect(addresses("/connect/flows", { id: "f1", code: "daily" })).toEqual([
      "/studio/connect/processes?flow_code=daily",
      "/studio/account/crons?target_code=daily",
      "/studio/account/webhooks?target_code=daily",
      "/studio/connect/hooks?flow_code=daily",
    ]);
    expect(addresses("/account/crons", { id: 3, kind: "flow", target_code: "daily" })).toContain(
      "/studio/connect/processes?started_by=cron:3",
    );
    expect(addresses("/cms/sites", { id: 1, code: "acme" })).toContain("/studio/cms/pages?site_code=acme");
    expect(addresses("/account/teams", { id: 2 })).toEqual(["/studio/account/people?team_id=2"]);
  });

  test.each([
    ["/w/{site_code}/{path}", { site_code: "acme", path: "a b/c" }, "/w/acme/a%20b/c"],
    ["/w/{site_code}/{path}?lang={locale}", { site_code: "acme", path: "", locale: null }, "/w/acme/?lang="],
    ["/w/{site_code}/", { path: "x" }, undefined],
  ])("%s of %p is %p", (template, record, address) => expect(filledFrom(template, record)).toBe(address));
});

describe("the parts of an object", () => {
  const flow = () => fieldsOf(partsFor(fieldOf("/connect/flows", "fields"), {}), known());

  test("have inputs of their own, and the rest is JSON", () => {
    expect(split(flow(), { program: [1], note: "x" })).toEqual({ program: "[\n  1\n]", "": '{\n  "note": "x"\n}' });
  });

  test.each([
    [{ program: "[2]", "": "" }, { program: [2] }],
    [
      { program: "[2]", "": '{"note":"y"}' },
      { program: [2], note: "y" },
    ],
    [{ program: "", "": "" }, {}],
  ])("%p make the object %p", (inputs, whole) => {
    expect(objectIn(joined(flow(), { program: [1], note: "x" }, inputs))).toEqual(whole);
  });

  test("that are no JSON make none of the whole, and stay as they were typed", () => {
    const text = joined(flow(), { program: [1] }, { program: "[1,", "": "" });
    expect(objectIn(text)).toBeUndefined();
    expect(text).toContain("[1,");
  });
});

test("every list of the menu has a name in the catalogues", () => {
  const paths = modules.flatMap((one) => one.paths);
  expect(paths.filter((path) => !Object.hasOwn(english.resources, path))).toEqual([]);
});

test("a field of a form has the words and the widget that its resource declares, or its own", () => {
  const { fields } = resource("/account/crons");
  const missed = inWords(fieldOf("/account/crons", "missed"), fields["missed"], "pl");
  expect(missed).toMatchObject({
    label: "Przegapione terminy",
    help: "Co zrobić z terminami, w których serwer nie działał.",
    labels: { skip: "Pomiń je", latest: "Nadrób ostatni" },
  });
  const field = fieldOf("/account/crons", "name");
  expect(inWords(field, undefined, "de")).toEqual(field);
  const label = { en: "Key", pl: "Klucz", de: "Schlüssel" };
  expect(inWords(field, { label, widget: "secret" }, "de")).toMatchObject({ label: "Schlüssel", kind: "secret" });
});
