import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { faultsOf } from "../chromium.ts";
import { adminToken } from "../harness.ts";
import { frameOf, startStage, user, type Stage } from "./apps-fixture.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
}, 600_000);
afterAll(() => stage?.stop());

const engines = [
  {
    app_engine: "svelte",
    css_engine: "tailwind",
    source_code: `<script lang="ts">let count: number = $state(0);</script>
<button class="bg-red-500 p-4" onclick={() => count++}>clicked {count}</button>`,
    color: "oklch(0.637 0.237 25.331)",
  },
  {
    app_engine: "svelte",
    css_engine: "tailwind_all",
    source_code: `<script>let count = $state(0);</script>
<button class="p-4 {count > 0 ? 'bg-red-500' : ''}" onclick={() => count++}>clicked {count}</button>
<style>button { border-radius: 3px }</style>`,
    color: "oklch(0.637 0.237 25.331)",
  },
  {
    app_engine: "svelte",
    css_engine: "none",
    source_code: `<script>import { writable } from "svelte/store"; const count = writable(0);</script>
<button onclick={() => $count++}>clicked {$count}</button>
<style>button { background-color: rgb(1, 2, 3) }</style>`,
    color: "rgb(1, 2, 3)",
  },
  {
    app_engine: "vue",
    css_engine: "tailwind",
    source_code: `<script setup lang="ts">import { ref } from "vue"; const count = ref<number>(0);</script>
<template><button class="p-4" @click="count++">clicked {{ count }}</button></template>
<style scoped>button { background-color: rgb(1, 2, 3) }</style>`,
    color: "rgb(1, 2, 3)",
  },
  {
    app_engine: "vue",
    css_engine: "tailwind_all",
    source_code: `<script setup>import { ref } from "vue"; const count = ref(0);</script>
<template><button class="bg-red-500" @click="count++">clicked {{ count }}</button></template>`,
    color: "oklch(0.637 0.237 25.331)",
  },
  {
    app_engine: "react",
    css_engine: "tailwind",
    source_code: `import { useState } from "react";
export default function App() {
  const [count, setCount] = useState<number>(0);
  return <button className="bg-red-500 p-4" onClick={() => setCount(count + 1)}>clicked {count}</button>;
}`,
    color: "oklch(0.637 0.237 25.331)",
  },
  {
    app_engine: "react",
    css_engine: "none",
    source_code: `import React from "react";
import { createRoot } from "react-dom/client";
function App() {
  const [count, setCount] = React.useState(0);
  return <button style={{ backgroundColor: "rgb(1, 2, 3)" }} onClick={() => setCount(count + 1)}>clicked {count}</button>;
}
createRoot(document.getElementById("core-app")!).render(<App />);`,
    color: "rgb(1, 2, 3)",
  },
  {
    app_engine: "js",
    css_engine: "none",
    source_code: `document.addEventListener("DOMContentLoaded", () => {
  let count = 0;
  const button = document.createElement("button");
  button.style.backgroundColor = "rgb(1, 2, 3)";
  button.textContent = "clicked 0";
  button.onclick = () => (button.textContent = "clicked " + ++count);
  document.getElementById("core-app").append(button);
});`,
    color: "rgb(1, 2, 3)",
  },
  {
    app_engine: "js",
    css_engine: "none",
    source_code: `export default (root) => {
  let count = 0;
  root.innerHTML = "<button style='background-color: rgb(1, 2, 3)'>clicked 0</button>";
  root.firstChild.addEventListener("click", (event) => { event.target.textContent = "clicked " + ++count; });
};`,
    color: "rgb(1, 2, 3)",
  },
  {
    app_engine: "html",
    css_engine: "none",
    source_code: `<!doctype html>
<html lang="pl" class="whole"><head><title>Mine</title><style>button { background-color: rgb(1, 2, 3) }</style></head>
<body class="mine"><button onclick="add()">clicked 0</button>
<script>let count = 0; function add() { document.querySelector("button").textContent = "clicked " + ++count; }
if (!CoreAppContext.app.id || !core.db) throw new Error("the SDK came too late");</script></body></html>`,
    color: "rgb(1, 2, 3)",
  },
];

const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

describe("an app runs in the sandbox", () => {
  test.each(engines.map((one, at) => [`${one.app_engine} with ${one.css_engine} (${at + 1})`, one] as const))(
    "%s",
    async (_name, { color, ...source }) => {
      const { path } = await stage.make({ name: `Counter ${source.app_engine}`, ...source });
      const context = await stage.visit();
      const { page, faults } = await stage.open(context, path);
      const button = page.locator("button");
      await button.click();
      await button.filter({ hasText: "clicked 1" }).waitFor();
      await page.waitForFunction(
        (wanted) => getComputedStyle(document.querySelector("button")!).backgroundColor === wanted,
        color,
      );
      expect(await page.evaluate(() => self.origin)).toBe("null");
      expect(faults).toEqual([]);
      await context.close();
    },
  );

  test("kaboom: it draws, and its functions are there as globals", async () => {
    const source_code = `import kaboom from "kaboom";
const k = kaboom({ width: 200, height: 100, background: [10, 20, 200], global: true });
k.loadSprite("dot", "data:image/png;base64,${pixel}");
k.scene("main", () => {
  add([k.sprite("dot"), pos(1, 1), scale(20)]);
  add([k.text("hi"), pos(50, 20)]);
  let frames = 0;
  k.onUpdate(() => { if (++frames === 3) document.title = "drawn " + typeof globalThis.kaboom; });
});
k.go("main");`;
    const { path } = await stage.make({ name: "Game", app_engine: "kaboom", source_code });
    const { page, faults } = await stage.open(await stage.visit(), path);
    await page.waitForFunction(() => document.title.startsWith("drawn"));
    expect(await page.title()).toBe("drawn function");
    expect(await page.locator("canvas").count()).toBe(1);
    expect(faults).toEqual([]);
  });

  test("phaser: it draws", async () => {
    const source_code = `import { Scene, Game, CANVAS } from "phaser";
class Main extends Scene {
  create() { this.add.rectangle(50, 50, 20, 20, 0xff0000); this.add.text(5, 5, "hi"); document.title = "drawn " + typeof Phaser.Game; }
}
new Game({ type: CANVAS, width: 200, height: 100, parent: "core-app", scene: Main, audio: { noAudio: true }, banner: false });`;
    const { path } = await stage.make({ name: "Phaser", app_engine: "phaser", source_code });
    const { page, faults } = await stage.open(await stage.visit(), path);
    await page.waitForFunction(() => document.title.startsWith("drawn"));
    expect(await page.locator("#core-app canvas").count()).toBe(1);
    expect(faults).toEqual([]);
  });

  test("an html page of the author's own keeps its attributes and its title", async () => {
    const html = engines.find(({ app_engine }) => app_engine === "html");
    const { path } = await stage.make({ name: "Page", ...html, color: null });
    const { page } = await stage.open(await stage.visit(), path);
    const shown = await page.evaluate(() => [
      document.documentElement.lang,
      document.documentElement.className,
      document.body.className,
      document.compatMode,
    ]);
    expect([await page.title(), ...shown]).toEqual(["Mine", "pl", "whole", "mine", "CSS1Compat"]);
  });
});

describe("the page", () => {
  test("hostile names, prompts, fields and queries stay text", async () => {
    const hostile = `</title></script><script>document.title="owned"</script>\u2028{{7*7}}<!--<script>"'\``;
    const { path } = await stage.make({
      name: hostile,
      description: hostile,
      prompt: hostile,
      fields: { icon: "<", evil: hostile },
      source_code: `document.getElementById("core-app").textContent = CoreAppContext.app.name + "</script><b>";`,
    });
    const query = `?module=${encodeURIComponent(hostile)}&view=${encodeURIComponent(hostile)}&record_id=7&embed=yes`;
    const { page, faults } = await stage.open(await stage.visit(), path + query);
    await page.locator("#core-app", { hasText: "owned" }).waitFor();
    expect(await page.locator("#core-app").textContent()).toBe(`${hostile}</script><b>`);
    expect(await page.title()).not.toBe("owned");
    expect(await page.evaluate(() => [CoreAppContext.module, CoreAppContext.view, CoreAppContext.record_id])).toEqual([
      null,
      null,
      "7",
    ]);
    expect(faults).toEqual([]);
  });

  test("the app is told who looks, with teams, groups and departments", async () => {
    const { app } = stage;
    const unit = async (kind: string, name: string) =>
      (await app.post(`/account/${kind}s.json`, { [kind]: { name } })).json.id;
    const [team, group, department] = [
      await unit("team", "Sales"),
      await unit("group", "Poland"),
      await unit("department", "East"),
    ];
    const anna = await user(app, "anna");
    await app.patch(`/account/users/${anna.id}.json`, {
      user: {
        name: "Anna </script>",
        email: "anna@example.com",
        team_ids: [team],
        group_ids: [group],
        department_ids: [department],
      },
    });
    const { id, path } = await stage.make({ name: "Who", public: false, source_code: `document.title = "ready";` });
    const { frame: page } = await stage.open(
      await stage.visit("anna"),
      `${path}?module=crm&view=tasks/show&record_id=12`,
    );
    await page.waitForFunction(() => document.title === "ready");
    expect(await page.evaluate(() => CoreAppContext)).toEqual({
      user: {
        login: "anna",
        email: "anna@example.com",
        name: "Anna </script>",
        role: "user",
        team_ids: [team],
        team_names: ["Sales"],
        group_ids: [group],
        group_names: ["Poland"],
        department_ids: [department],
        department_names: ["East"],
      },
      app: { id, name: "Who", url_code: path.slice(3) },
      base_url: app.origin,
      locale: "en",
      language: "en",
      timezone: "UTC",
      embed: false,
      module: "crm",
      view: "tasks/show",
      record_id: "12",
    });
  });

  test("a private app asks a browser to sign in, and comes back", async () => {
    await user(stage.app, "guest-1", "guest");
    const { path } = await stage.make({
      name: "Private",
      public: false,
      source_code: `document.title = CoreAppContext.user.login`,
    });
    const { page } = await stage.open(await stage.visit(), `${path}?module=crm`);
    await page.fill("#login", "guest-1");
    await page.fill("#password", "a long pass phrase");
    await page.click("button[type=submit]");
    await page.waitForFunction(() => document.title === "guest-1");
    expect(new URL(page.url()).pathname + new URL(page.url()).search).toBe(`${path}?module=crm`);
  });

  test("errors are shown to those who may edit the app, and to nobody else", async () => {
    await user(stage.app, "guest-2", "guest");
    const source_code = `console.log("a note"); console.error("went wrong", { a: 1 });
setTimeout(() => { throw new Error("late fault"); });
Promise.reject(new Error("forgotten"));
new Image().src = "https://elsewhere.invalid/x.png";
document.title = "ready";`;
    const { path } = await stage.make({ name: "Broken", public: false, source_code });

    const { frame: page } = await stage.open(await stage.visit("admin"), path);
    const badge = page.locator("#core-errors");
    await badge.waitFor();
    // Closed to the app: only a person opens it.
    expect(await page.evaluate(() => document.getElementById("core-errors")?.shadowRoot)).toBeNull();
    expect(await page.content()).toContain("/panel.js");

    const { frame: other } = await stage.open(await stage.visit("guest-2"), path);
    await other.waitForFunction(() => document.title === "ready");
    await Bun.sleep(200);
    expect(await other.locator("#core-errors").count()).toBe(0);
    expect(await other.content()).not.toContain("panel.js");
  });

  test("a change that does not build is told to those who may edit the app, until one does", async () => {
    await user(stage.app, "guest-3", "guest");
    const { id, path } = await stage.make({
      name: "Half done",
      public: false,
      source_code: "document.title = 'ready';",
    });
    const save = (source_code: string) => stage.app.patch(`/core/apps/${id}.json`, { app: { source_code } });
    expect((await save('import "node:fs";')).status).toBe(422);

    const { page: window, frame: page } = await stage.open(await stage.visit("admin"), path);
    await page.waitForFunction(() => document.title === "ready");
    await page.locator("#core-errors").waitFor();
    const { frame: other } = await stage.open(await stage.visit("guest-3"), path);
    await other.waitForFunction(() => document.title === "ready");
    expect(await other.content()).not.toContain("node:fs");

    expect((await save("document.title = 'again';")).status).toBe(200);
    await window.reload();
    await window.waitForFunction(() => document.title === "again");
    expect(await (await frameOf(window)).locator("#core-errors").count()).toBe(0);
  });

  test("embedded, it tells its height to the page around it", async () => {
    const { path } = await stage.make({
      name: "Tile",
      source_code: `document.getElementById("core-app").style.height = "333px"; document.body.style.margin = 0;`,
    });
    const context = await stage.visit("admin");
    const page = await context.newPage();
    const faults = faultsOf(page);
    await page.route("**/around", (around) =>
      around.fulfill({
        contentType: "text/html",
        body: `<!doctype html><title>around</title><iframe src="${path}?embed=1&module=crm"></iframe><script>
addEventListener("message", (event) => { document.title = JSON.stringify([event.data.type, event.data.height, event.source === frames[0]]); });</script>`,
      }),
    );
    await page.goto(`${stage.app.origin}/around`);
    await page.waitForFunction(() => document.title.includes("333"));
    expect(JSON.parse(await page.title())).toEqual(["core:height", 333, true]);
    expect(faults).toEqual([]);
  });

  test("a preview is shown to the one who made it", async () => {
    const made = await stage.app.post("/core/apps/preview.json", {
      app: { name: "Draft", app_engine: "svelte", css_engine: "tailwind", source_code: `<p class="p-4">draft</p>` },
    });
    const { page, faults } = await stage.open(await stage.visit("admin"), made.json.url);
    await page.locator("p", { hasText: "draft" }).waitFor();
    expect(faults).toEqual([]);
    await user(stage.app, "curious");
    const { page: other } = await stage.open(await stage.visit("curious"), made.json.url);
    expect(await other.title()).toBe("Not found");
  });

  test.each([
    ["react", "export default function App() { return <p>{{ a: 1 }}</p>; }", "Objects are not valid as a React child"],
    ["vue", "<template><p>{{ nothing.x }}</p></template>", "nothing"],
  ])("a mistake in a preview of %s is told in words", async (app_engine, source_code, words) => {
    const { json } = await stage.app.post("/core/apps/preview.json", {
      app: { name: "Draft", app_engine, source_code },
    });
    const { page, faults } = await stage.open(await stage.visit("admin"), json.url);
    await page.locator("#core-errors").waitFor();
    expect(faults.join()).toContain(words);
    expect(faults.join()).not.toContain("Minified");
  });

  test("a trusted app runs without the sandbox, on the session", async () => {
    const source_code = `const me = await (await fetch("/account/me.json")).json(); document.title = me.login + " " + self.origin;`;
    const { path, id } = await stage.make({ name: "Trusted", public: false, source_code });
    const marked = await stage.app.patch(`/core/apps/${id}.json`, { app: { trusted: true } }, { token: adminToken });
    expect(marked.status).toBe(200);
    const { page, faults } = await stage.open(await stage.visit("admin"), path);
    await page.waitForFunction(() => document.title.startsWith("admin"));
    expect(await page.title()).toBe(`admin ${stage.app.origin}`);
    expect(faults).toEqual([]);
  });
});
