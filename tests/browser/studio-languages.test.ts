/** Every page of the Studio speaks the language that was chosen, fits into any width, and reports nothing to the console. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { words } from "../../sites/studio/app/resources/names.ts";
import type { Document } from "../../sites/studio/app/resources/openapi.ts";
import { resourcesOf } from "../../sites/studio/app/resources/resources.ts";
import { addressOf } from "../../sites/studio/app/address.ts";
import { startStudio, type Studio } from "./studio-fixture.ts";

type Language = "en" | "pl" | "de";
type Leaves = Map<string, string>;

/** What a message says, by its key, in each language. */
const messages: Record<Language, Leaves> = { en: new Map(), pl: new Map(), de: new Map() };
/** The same, for a look at each text. */
let known: Record<Language, ReadonlySet<string>>;
let studio: Studio;
let paths: string[];
/** What the API says: names, values and descriptions. They are shown as they are. */
let said: Set<string>;
let descriptions: string;

beforeAll(async () => {
  [studio] = await Promise.all([startStudio(), readMessages()]);
  await seed();
  const document = (await studio.app.get("/openapi.json")).json as Document;
  paths = await allPaths(document);
  said = wordsOf(document);
  for (const [name, { "x-fields": fields = {} }] of Object.entries(document.components.schemas))
    for (const { label, help, choices = {} } of Object.values(fields))
      for (const told of [label, ...(help ? [help] : []), ...Object.values(choices)])
        for (const language of languages) messages[language].set(`${name} ${told.en}`, told[language]);
  const { en, pl, de } = messages;
  known = { en: new Set(en.values()), pl: new Set(pl.values()), de: new Set(de.values()) };
  for (const path of [
    "/core/prompts/system",
    "/account/webhooks/source_types",
    "/account/api_tokens",
    "/core/mail_templates/system",
  ])
    wordsOf((await studio.app.get(`${path}.json`)).json, said);
  for (const word of [...properNames, ...valuesOfFields]) said.add(word);
  descriptions = JSON.stringify(document).replaceAll("`", "");
});
afterAll(() => studio.stop());

async function readMessages(): Promise<void> {
  const root = `${import.meta.dir}/../..`;
  for (const english of new Bun.Glob("{plugins,sites}/**/text/en.json").scanSync(root))
    for (const language of languages) {
      const file = english.replace("en.json", `${language}.json`);
      collect(await Bun.file(`${root}/${file}`).json(), english, messages[language]);
    }
  // The titles of pages stand with them.
  for (const file of new Bun.Glob("plugins/*/studio/pages.ts").scanSync(root)) {
    const { pages }: { pages: { path: string; title: Record<Language, string> }[] } = await import(`${root}/${file}`);
    for (const { path, title } of pages)
      for (const language of languages) messages[language].set(path, title[language]);
  }
}

const languages = ["en", "pl", "de"] as const;
/** Of formats, of keys, of the browser and its system. */
const properNames = ["JSON", "CSV", "NDJSON", "Chrome, Linux", "Ctrl+K", "Ctrl+S"];
/** Types of a schema, and the names of public methods. */
const valuesOfFields = ["datetime", "time", "list", "search"];

function collect(value: unknown, key: string, into: Leaves): void {
  if (typeof value === "string") into.set(key, value);
  else if (typeof value === "object" && value !== null)
    for (const [name, inner] of Object.entries(value)) collect(inner, `${key} ${name}`, into);
}

async function seed(): Promise<void> {
  const { app } = studio;
  const make = async (path: string, body: object) => {
    const answer = await app.post(path, body);
    expect([path, answer.status]).toEqual([path, 201]);
  };
  const long = "Donaudampfschifffahrtsgesellschaftskapitän 1";
  await make("/core/prompts.json", { prompt: { name: long, code: "seeded_1", content: "Seeded {{ date }}" } });
  await make("/core/dbs.json", {
    db: { name: long, code: "seeded_db", schema: { fields: { f1: "string", f2: "integer" } } },
  });
  await make("/core/dbs/seeded_db/records.json", { record: { data: { f1: "x".repeat(300), f2: 7 } } });
  await make("/core/dbs.json", { db: { name: "Seeded 2", code: "seeded_empty" } });
  await make("/core/apps.json", {
    app: { name: long, app_engine: "html", css_engine: "none", source_code: "<h1>1</h1>", show_in_module: "crm" },
  });
  await make("/connect/connectors.json", { connector: { name: long, code: "seeded_own", url: "http://127.0.0.1:9" } });
  await make("/connect/flows.json", {
    flow: { name: long, code: "seeded_flow", fields: { program: [{ type: "fail", message: "Seeded 3" }] } },
  });
  await app.post("/connect/flows/seeded_flow/run.json", {});
  await make("/account/crons.json", {
    cron: { name: "Seeded 4", target_code: "seeded_flow", schedule: "0 7 * * *", timezone: "Europe/Warsaw" },
  });
  await make("/account/webhooks.json", {
    webhook: { source_type: "Core::Record", kind: "create", url: "http://127.0.0.1:9/x" },
  });
  await make("/account/teams.json", { team: { name: "Seeded 5" } });
  await make("/account/departments.json", { department: { name: "Seeded 6" } });
  await make("/account/groups.json", { group: { name: "Seeded 7" } });
  await make("/account/api_tokens.json", { api_token: { name: "Seeded 8" } });
  await make("/cms/sites.json", { site: { code: "seeded_site", name: "Seeded 9", locale: "pl", multilang: true } });
}

/** The dashboard, the modules, every page of a plugin; of every resource the list, the form, and its first item. */
async function allPaths(document: Document): Promise<string[]> {
  const first = async (path: string) => {
    const [row] = (await studio.app.get(`${path}.json`)).json as Record<string, unknown>[];
    const value = row?.["code"] ?? row?.["id"];
    return path === "/core/prompts" || path === "/core/apps" ? row?.["id"] : value;
  };
  const found = new Set(["/studio", "/studio/crm/apps/nothing", "/studio/nothing/at/all"]);
  const resources = resourcesOf(document);
  for (const resource of resources.filter(({ path }) => !path.includes("{"))) {
    if (!resource.read && !resource.create) continue;
    found.add(addressOf(resource, []));
    if (resource.create) found.add(`${addressOf(resource, [])}/new`);
    const id = resource.read ? await first(resource.path) : undefined;
    if (id === undefined) continue;
    const values = [`${id as string | number}`];
    found.add(addressOf(resource, values));
    for (const child of resources.filter(({ path }) => resource.children.includes(path)))
      found.add(addressOf(child, values));
  }
  const root = `${import.meta.dir}/../..`;
  for (const file of new Bun.Glob("plugins/*/studio/pages.ts").scanSync(root)) {
    const { pages }: { pages: { path: string; of?: string }[] } = await import(`${root}/${file}`);
    for (const { path, of } of pages) {
      const above = [...found].filter(
        (one) => one.startsWith(`/studio/${path.split("/:")[0]}/`) && !one.endsWith("/new"),
      );
      const owner = of === undefined ? undefined : String(await first(of));
      const id = owner ?? above.map((one) => one.slice(`/studio/${path.split("/:")[0]}/`.length).split("/")[0])[0];
      const address = path.replace(/:\w+/, path.includes("/system/") ? "prompts_api" : (id ?? ""));
      if (!address.includes(":")) found.add(`/studio/${address}`);
    }
  }
  return [...found];
}

/** Every word of the API: keys, values and what stands in its descriptions; fields are shown in words. */
function wordsOf(value: unknown, into = new Set<string>()): Set<string> {
  if (typeof value === "string") into.add(value).add(words(value));
  else if (typeof value === "object" && value !== null)
    for (const [key, inner] of Object.entries(value)) {
      // What people call the fields is said in each language.
      if (key === "x-fields") continue;
      into
        .add(key)
        .add(words(key))
        .add(words(key.split("/").at(-1)?.replace(".json", "") ?? ""));
      wordsOf(inner, into);
    }
  return into;
}

interface Seen {
  readonly lang: string;
  readonly headings: number;
  readonly texts: readonly string[];
  readonly overflows: readonly number[];
}

/** Goes there as a link does, without loading the page anew, and reads what is shown. */
async function look(page: Page, path: string, loading: string): Promise<Seen> {
  await page.evaluate((to) => {
    history.pushState(null, "", to);
    dispatchEvent(new PopStateEvent("popstate"));
  }, path);
  await page.waitForFunction(
    (busy) => document.querySelector("main h1") && !(document.querySelector("main")?.textContent ?? "").includes(busy),
    loading,
  );
  const overflows: number[] = [];
  // 640 px is what 1280 px are at a zoom of 200 %.
  const widths = page.viewportSize()?.width === 360 ? [360, 640, 1280] : [1280, 640, 360];
  for (const width of widths) {
    if (page.viewportSize()?.width !== width) await page.setViewportSize({ width, height: 800 });
    const beyond = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    if (beyond > 0) overflows.push(width);
  }
  return { ...(await page.evaluate(read)), overflows };
}

/** Runs in the page. What a person or the API wrote is left out: code, values, and what stands in `bdi`. */
function read(): Omit<Seen, "overflows"> {
  const texts = new Set<string>();
  const add = (text: string | null | undefined) => text?.trim() && texts.add(text.trim());
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode())
    if (
      !node.parentElement?.closest(
        "script, style, noscript, pre, code, kbd, bdi, time, .cm-editor, option[lang], span[lang]",
      )
    )
      add(node.textContent);
  for (const element of document.body.querySelectorAll("*"))
    for (const name of ["aria-label", "placeholder", "title", "alt"])
      if (!element.closest("pre, code, .cm-content")) add(element.getAttribute(name));
  return { lang: document.documentElement.lang, headings: document.querySelectorAll("h1").length, texts: [...texts] };
}

const isWord = (text: string) => text.toLowerCase() !== text.toUpperCase();

/** What may be the same in two languages: the words of the API, and what was seeded here. */
function isOfApi(text: string): boolean {
  const bare = text.replace(/[…:*()]/g, "").trim();
  const isId = /^[0-9a-f-]{8,36}$/.test(bare);
  // What asked for a change, as the log of activity shows it.
  if (/^(GET|POST|PATCH|PUT|DELETE) \/\S+$/.test(text) || text.startsWith("Bun/")) return true;
  if (/^[0-9a-f]{8}-[0-9a-z]{1,6}$/.test(text)) return true; // a request's id
  if (/^[\d.,]+\s(ms|s|min|h)$/.test(text)) return true; // units of time are the same
  if (said.has(text) || said.has(bare) || isId || /seeded|admin|Donau/i.test(text) || bare.length < 3) return true;
  const escaped = JSON.stringify(text).slice(1, -1);
  return text.length > 5 && text.includes(" ") && descriptions.includes(escaped);
}

/** A message of the frame. */
const message = (language: Language) => (key: string) =>
  messages[language].get(`sites/studio/app/text/en.json ${key}`) ?? key;

/** What lies over a page, and can be opened without harm. */
const dialogs = (t: (key: string) => string): Record<string, (page: Page) => Promise<void>> => ({
  palette: async (page) => {
    await page.keyboard.press("Control+k");
    await page.getByRole("dialog", { name: t("commands") }).waitFor();
  },
  "account menu": async (page) => {
    await page.getByRole("button", { name: t("account") }).click();
    await page.getByRole("button", { name: t("signOut") }).waitFor();
  },
  "show as API": async (page) => {
    await page.getByRole("button", { name: t("showAsApi") }).click();
    await page.getByRole("dialog", { name: t("showAsApi") }).waitFor();
  },
});

/** Languages are walked side by side, each in a browser profile of its own. */
async function walk(language: Language): Promise<{ seen: ReadonlyMap<string, Seen>; faults: readonly string[] }> {
  await using opened = await studio.signedIn({ locale: language });
  const { page, faults } = opened;
  page.setDefaultTimeout(90_000);
  const lastStatus = new Map<string, number>();
  page.on("response", (response) => lastStatus.set(response.url(), response.status()));
  const loading = message(language)("loading");
  const seen = new Map<string, Seen>();
  for (const path of paths) seen.set(path, await look(page, path, loading));
  for (const [name, open] of Object.entries(dialogs(message(language)))) {
    await look(page, "/studio/core/prompts/new", loading);
    await page.setViewportSize({ width: 1280, height: 800 }); // it was left wide or narrow
    await open(page);
    seen.set(name, { ...(await page.evaluate(read)), overflows: [] });
    await page.keyboard.press("Escape");
  }
  // A server without a processor asks for patience, which the Studio has: what counts is how it ends.
  const refused = [...lastStatus].filter(([, status]) => status === 503).map(([url]) => `503: ${url}`);
  return { seen, faults: [...faults.filter((fault) => !fault.includes("status of 503")), ...refused] };
}

test("every page: its language, one heading, no sideways scroll, nothing in the console", async () => {
  const [en, pl, de] = await Promise.all(languages.map(walk));
  if (!en || !pl || !de) throw new Error("three languages");
  const problems: string[] = [];
  for (const [language, { seen, faults }] of Object.entries({ en, pl, de })) {
    problems.push(...faults.map((fault) => `${language} ${fault}`));
    for (const [path, { lang, headings, overflows, texts }] of seen) {
      if (lang !== language) problems.push(`${path} says it is in ${lang}, not ${language}`);
      if (headings !== 1) problems.push(`${language} ${path} has ${headings} headings of level 1`);
      if (overflows.length > 0) problems.push(`${language} ${path} scrolls sideways at ${overflows.join(", ")} px`);
      if (language === "en") continue;
      for (const text of texts)
        if (isEnglish(text, language, en.seen.get(path))) problems.push(`${language} ${path}: ${text}`);
    }
  }
  expect([...new Set(problems)]).toEqual([]);
  // Generous, because the machine may be busy: it takes 20 seconds.
}, 600_000);

test("a form, the head of a list and a filter call a field what its resource declares, and its choices too", async () => {
  await using opened = await studio.signedIn({ at: "/studio/account/crons/new", locale: "de" });
  const { page } = opened;
  await page.getByLabel("Zeitzone").waitFor();
  const missed = page.getByLabel("Verpasste Termine");
  expect(await missed.locator("option").allTextContents()).toEqual(["Keine", "Auslassen", "Den letzten nachholen"]);
  expect(await page.getByText("Was mit Terminen geschieht, zu denen kein Server lief.").count()).toBe(1);
  await page.goto(`${studio.app.origin}/studio/account/crons`);
  for (const name of ["Ablauf", "Nächster Durchlauf", "Letzter Fehler"])
    await page.getByRole("columnheader", { name }).waitFor();
  await page.getByText("Filter", { exact: true }).click();
  await page.locator("form.panel").getByLabel("Ablauf").waitFor();
});

/** A message that this language says otherwise, or a text that the English page has too and no message explains. */
function isEnglish(text: string, language: string, english: Seen | undefined): boolean {
  if (!isWord(text) || isOfApi(text)) return false;
  const own = language === "pl" ? known.pl : known.de;
  // The number names one of them: "Webhook 1".
  const bare = text.replace(/ \d+$/, "");
  if (own.has(bare) || own.has(bare.toLowerCase())) return false;
  return known.en.has(text) || (english?.texts.includes(text) ?? false);
}

test("the pages outside the Studio: one heading, no sideways scroll, nothing in the console", async () => {
  await using opened = await studio.signedIn();
  const { page, faults } = opened;
  for (const path of ["/login", "/logout", "/docs"])
    for (const width of [360, 640, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      await page.goto(studio.app.origin + path);
      await page.getByRole("heading", { level: 1 }).first().waitFor();
      const beyond = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect([path, width, beyond, await page.locator("html").getAttribute("lang")]).toEqual([path, width, 0, "en"]);
    }
  // Requests of the dashboard that was left.
  expect(faults).toEqual([]);
});

test("a person who wants less motion sees none, and colours of the system keep everything visible", async () => {
  await using opened = await studio.signedIn({ reducedMotion: "reduce", forcedColors: "active" });
  const { page } = opened;
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog", { name: "Find or do" }).waitFor();
  const moving = () => page.evaluate(() => document.getAnimations().length);
  expect(await moving()).toBe(0);
  // What only a background told apart has an edge: the chosen command, the page where one is.
  const edgeOf = (selector: string) =>
    page
      .locator(selector)
      .first()
      .evaluate((element) => getComputedStyle(element).outlineStyle);
  expect(await edgeOf('[role=option][aria-selected="true"]')).toBe("solid");
  await page.keyboard.press("Escape");
  expect(await edgeOf("#menu [aria-current]")).toBe("solid");
  await page.getByRole("link", { name: "Prompts", exact: true }).first().click();
  await page.getByRole("heading", { level: 1, name: "Prompts" }).waitFor();
  const primary = page.getByRole("button", { name: "New prompt" });
  expect(await primary.evaluate((element) => getComputedStyle(element).borderTopStyle)).toBe("solid");
  await primary.focus();
  expect(await moving()).toBe(0);
});

test("on paper a list has its headings and no controls, and is light", async () => {
  await studio.app.post("/core/prompts.json", { prompt: { name: "On paper", code: "on_paper", content: "x" } });
  await using opened = await studio.signedIn({ at: "/studio/core/prompts", colorScheme: "dark" });
  const { page } = opened;
  const name = page.getByRole("columnheader", { name: "Name", exact: true }).getByRole("button");
  await name.waitFor();
  const make = page.getByRole("button", { name: "New prompt" });
  const isDark = () => page.evaluate(() => getComputedStyle(document.documentElement).colorScheme);
  expect([await make.isVisible(), await isDark()]).toEqual([true, "light dark"]);
  await page.emulateMedia({ media: "print", colorScheme: "dark" });
  expect(await name.isVisible()).toBe(true);
  expect([await make.isVisible(), await page.locator("#menu").isVisible(), await isDark()]).toEqual([
    false,
    false,
    "light",
  ]);
});
