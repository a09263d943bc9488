/** Apps that attack the Studio around them: in a tile, on their page, trusted or not. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { startStudio, type Studio } from "./studio-fixture.ts";

let studio: Studio;
beforeAll(async () => {
  studio = await startStudio();
  await studio.app.post("/core/dbs.json", { db: { name: "Salaries", code: "salaries" } });
});
afterAll(() => studio.stop());

/** An app of the module CRM and a tile; `script` runs in its page. */
async function hostile(name: string, script: string, fields: object = {}): Promise<string> {
  const source_code = `<p>${name} runs</p><pre id="out">nothing</pre><script>${script}</script>`;
  const shown = { show_in_module: "crm", dashboard_widget: true, url_code: name.toLowerCase() };
  const answer = await studio.app.post("/core/apps.json", {
    app: { name, app_engine: "html", css_engine: "none", source_code, ...shown, ...fields },
  });
  expect(answer.status).toBe(201);
  const tiles = [{ app: answer.json.id, width: 1 }];
  await studio.app.patch("/account/me/preferences.json", { preferences: { "studio.dashboard": { tiles } } });
  return answer.json.id;
}

interface Watched {
  readonly dialogs: string[];
  readonly downloads: string[];
}
function watch(page: Page): Watched {
  const seen: Watched = { dialogs: [], downloads: [] };
  page.on("dialog", (dialog) => {
    seen.dialogs.push(dialog.message());
    void dialog.dismiss();
  });
  page.on("download", (download) => seen.downloads.push(download.suggestedFilename()));
  return seen;
}
const outOf = (page: Page, name: string) => page.frameLocator(`iframe[title="${name}"]`).locator("#out");
/** In the tile, and on the app's own page. */
const places = (name: string) => ["/studio", `/studio/crm/apps/${name.toLowerCase()}`];

const attempts = `
  const tried = {};
  const attempt = async (what, run) => {
    try { tried[what] = String(await run() ?? "nothing"); } catch (error) { tried[what] = "refused: " + error.name; }
  };
  addEventListener("load", async () => {
    await attempt("top", () => { top.location = "/logout"; return "taken"; });
    await attempt("parent", () => { parent.location.href = "https://evil.invalid/"; return "taken"; });
    await attempt("document", () => parent.document.title);
    await attempt("frames", () => parent[0].document.title);
    await attempt("storage", () => localStorage.length);
    await attempt("cookie", () => document.cookie);
    await attempt("alert", () => alert("hello"));
    await attempt("confirm", () => confirm("really?"));
    await attempt("prompt", () => prompt("password?"));
    await attempt("print", () => print());
    await attempt("window", () => open("/studio", "_blank") ? "opened" : "no window");
    await attempt("top window", () => open("/logout", "_top") ? "opened" : "no window");
    await attempt("full screen", () => document.documentElement.requestFullscreen());
    await attempt("pointer", () => document.documentElement.requestPointerLock());
    await attempt("clipboard", () => navigator.clipboard.readText());
    await attempt("camera", () => navigator.mediaDevices.getUserMedia({ video: true }));
    await attempt("place", () => new Promise((resolve, reject) => navigator.geolocation.getCurrentPosition(resolve, reject)));
    await attempt("people", () => fetch("/account/users.json", { credentials: "include" }).then((answer) => answer.status));
    await attempt("other data", () => fetch("/core/dbs/salaries/records.json", { credentials: "include" }).then((answer) => answer.status));
    await attempt("own page", () => fetch("/studio", { credentials: "include" }).then((answer) => answer.status));
    out.textContent = JSON.stringify(tried);
  });`;

test.each([
  // Its token is refused by a database that the app does not name.
  ["Plain", {}, { "other data": "404" }],
  ["Trusted", { trusted: true }, {}],
])("%s: it reaches nothing of the page around it, opens nothing, and takes nothing", async (name, fields, more) => {
  await hostile(name, attempts, fields);
  await using opened = await studio.signedIn();
  const { page } = opened;
  const seen = watch(page);
  for (const place of places(name)) {
    await page.goto(studio.app.origin + place);
    const out = outOf(page, name).filter({ hasText: "own page" });
    await out.waitFor();
    const tried: Record<string, string> = JSON.parse((await out.textContent()) ?? "");
    // What is not refused gives nothing: no dialog is shown, no window is handed over, and its only neighbour is itself.
    const rest = Object.entries(tried).filter(([, result]) => !result.startsWith("refused"));
    expect([place, Object.fromEntries(rest)]).toEqual([
      place,
      {
        ...more,
        frames: name,
        // The page's own, in its memory or on the server.
        storage: "0",
        cookie: "",
        alert: "nothing",
        confirm: "false",
        prompt: "nothing",
        print: "nothing",
        window: "no window",
        "top window": "no window",
      },
    ]);
    expect(page.url()).toBe(studio.app.origin + place);
  }
  expect(seen).toEqual({ dialogs: [], downloads: [] });
  expect((await page.context().request.get(`${studio.app.origin}/account/me.json`)).status()).toBe(200);
});

test("a flood of a hundred thousand messages changes nothing", async () => {
  const script = `
    addEventListener("load", () => {
      const shapes = [
        { type: "core:height", app: "someone else", height: 1e9 },
        { type: "core:height", app: APP, height: -1 }, { type: "core:height", app: APP, height: NaN },
        { type: "core:height", app: APP, height: "1e9" }, { type: "core:height", app: APP, height: 1e308 },
        { type: "core:report", entries: [{ level: "error", text: "<img src=x onerror=hit=1>" }] },
        { type: "core:palette", app: APP }, { type: "core:palette", app: "someone else" },
        { type: "core:navigate", to: "/logout" }, { type: "core:go", address: "/studio/tables/x?open=1" }, { type: "core:go", address: "/logout" }, null, 7, "core:height", [], { __proto__: { type: "core:height" } },
      ];
      for (let n = 0; n < 100000; n++) parent.postMessage(shapes[n % shapes.length], "*");
      out.textContent = "flooded";
    });`.replaceAll("APP", "CoreAppContext.app.id");
  await hostile("Flood", script);
  await using opened = await studio.signedIn({ at: "/studio/crm/apps/flood" });
  const { page, faults } = opened;
  await outOf(page, "Flood").filter({ hasText: "flooded" }).waitFor();
  expect((await page.locator('iframe[title="Flood"]').boundingBox())?.height).toBeLessThanOrEqual(4002);
  expect(await page.getByRole("dialog").count()).toBe(0);
  expect(await page.evaluate(() => "hit" in globalThis)).toBe(false);
  await page.getByRole("link", { name: "Prompts", exact: true }).first().click();
  await page.getByRole("heading", { level: 1, name: "Prompts" }).waitFor();
  expect(faults.filter((fault) => fault.startsWith("error:"))).toEqual([]);
}, 600_000);

test("an endless loop in it stops neither the page nor the menu", async () => {
  await hostile("Loop", "setTimeout(() => { for (;;); }, 0);");
  await using opened = await studio.signedIn({ at: "/studio/crm/apps/loop" });
  const { page } = opened;
  await page.getByRole("heading", { level: 1, name: "Loop" }).waitFor();
  await page.getByRole("link", { name: "Prompts", exact: true }).first().click();
  await page.getByRole("heading", { level: 1, name: "Prompts" }).waitFor();
});

test("the palette opens from inside an app by its keys, unless the app uses them", async () => {
  const script = `
    addEventListener("load", () => (out.textContent = "ready"));
    let own = true;
    addEventListener("keydown", (event) => {
      if (!own || event.key !== "k") return;
      event.preventDefault();
      own = false;
      out.textContent = "own use";
    });`;
  await hostile("Keys", script);
  await using opened = await studio.signedIn();
  const { page } = opened;
  await outOf(page, "Keys").filter({ hasText: "ready" }).click();
  await page.keyboard.press("Control+k");
  await outOf(page, "Keys").filter({ hasText: "own use" }).waitFor();
  expect(await page.getByRole("dialog").count()).toBe(0);
  await page.keyboard.press("Control+k");
  const palette = page.getByRole("dialog", { name: "Find or do" });
  await palette.waitFor();
  await page.keyboard.press("Escape");
  await palette.waitFor({ state: "detached" });
  expect(await page.evaluate(() => document.activeElement?.tagName)).toBe("IFRAME");
});

test("a window that it opens at a click is in the sandbox too, where our pages refuse to be shown", async () => {
  await hostile(
    "Opener",
    'out.onclick = () => open("/studio", "_blank"); addEventListener("load", () => (out.textContent = "ready"));',
    { public: true },
  );
  await using opened = await studio.signedIn({ at: "/studio/crm/apps/opener" });
  const { page } = opened;
  const out = outOf(page, "Opener").filter({ hasText: "ready" });
  const [window] = await Promise.all([page.context().waitForEvent("page"), out.click()]);
  await window.waitForURL(/^chrome-error:/);
});
