/** Apps in plain JavaScript, and what the error panel tells their authors. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { BrowserContext, Page } from "playwright-core";
import { eventually } from "../harness.ts";
import { startStage, user, type Stage } from "./apps-fixture.ts";

let stage: Stage;
let author: BrowserContext;
beforeAll(async () => {
  stage = await startStage();
  author = await stage.visit("admin");
  // Closed to the app, and to a test.
  await author.addInitScript(() => {
    const attach = Element.prototype.attachShadow;
    Element.prototype.attachShadow = function (init) {
      return attach.call(this, { ...init, mode: "open" });
    };
  });
}, 600_000);
afterAll(() => stage?.stop());

async function show(source_code: string, more: Record<string, unknown> = {}) {
  const { path } = await stage.make({ name: "Plain", source_code, ...more });
  const context = await stage.visit();
  const shown = await stage.open(context, path);
  return { ...shown, close: () => context.close() };
}

const named = (page: Page, title: string) => page.waitForFunction((wanted) => document.title === wanted, title);

describe("plain JavaScript", () => {
  test("has its functions where onclick looks for them, as in a page of one's own", async () => {
    const { page, faults, close } = await show(`let count = 0;
document.querySelector("#core-app").innerHTML = '<button onclick="clicked()" style="color: red">go</button>';
function clicked() { document.title = "clicked " + ++count; }`);
    await page.locator("button").click();
    await page.locator("button").click();
    await named(page, "clicked 2");
    expect(faults).toEqual([]);
    await close();
  });

  test.each([
    ["x = 5; document.title = 'sloppy ' + x;", "sloppy 5"],
    [`"use strict"; try { y = 5 } catch (error) { document.title = error.name }`, "ReferenceError"],
    ["var a = 1; document.title = [this === window, window.a, typeof document.currentScript].join()", "true,1,object"],
    ["const f = async () => { await null; document.title = 'async ' + !!window.f }; f(); var f2 = f", "async false"],
    ["import('vue').then(({ ref }) => document.title = 'vue ' + ref(3).value)", "vue 3"],
    ["const { storage } = core; document.title = typeof storage.get + CoreAppContext.app.name", "functionPlain"],
    // Modules, by what is in them.
    ["await (0); try { z = 1 } catch (error) { document.title = error.name }", "ReferenceError"],
    ["const got = await core.storage.get('nothing'); document.title = 'got ' + got", "got null"],
    ["import { ref } from 'vue'; document.title = 'ref ' + ref(2).value", "ref 2"],
    ["document.title = typeof import.meta.url", "string"],
    ["export default (root) => { document.title = 'root ' + root.id }", "root core-app"],
    ["document.title = 'element'; const p = document.createElement('p'); export default p", "element"],
    // What a script may not declare.
    ["const core = window.core; const top = 3; document.title = 'own ' + top + typeof core.db", "own 3function"],
    ["var location = 'here'; document.title = location", "here"],
  ])("%s", async (source, title) => {
    const { page, faults, close } = await show(source);
    await named(page, title);
    expect(faults).toEqual([]);
    await close();
  });

  test("its token stays out of reach, of inline code too", async () => {
    const { page, faults, close } = await show(`seen = [document.documentElement.outerHTML];
new MutationObserver(() => seen.push(document.documentElement.outerHTML)).observe(document, { childList: true, subtree: true });
const holder = document.createElement("div");
holder.innerHTML = '<img src="data:," onerror="seen.push(document.documentElement.outerHTML); done()">';
document.body.append(holder);
async function done() {
  await core.storage.set("a", 1);
  for (const name of Object.getOwnPropertyNames(window)) try { seen.push(JSON.stringify(window[name])) } catch {}
  document.title = "found " + seen.some((text) => text && text.includes("ca" + "pp_"));
}`);
    await named(page, "found false");
    expect(await page.content()).not.toContain("capp_");
    expect(faults).toEqual([]);
    await close();
  });
});

describe("the error panel", () => {
  async function problems(source_code: string, more: Record<string, unknown> = {}) {
    const { path } = await stage.make({ name: "Faulty", source_code, ...more });
    const { page } = await stage.open(author, path);
    await page.locator("#core-errors button[aria-expanded]").click();
    const items = await page.locator("#core-errors li").allInnerTexts();
    await page.close();
    return items.map((item) => item.split("\n").filter((line) => line !== ""));
  }

  test.each([
    ["js", `document.title = "ready"; undefined_1();`, "app:1:27"],
    ["js", `document.title = "ready";\n  undefined_1();`, "app:2:3"],
    ["js", `export {}; undefined_1();`, "app:1:12"],
    ["js", `export {};\n\n undefined_1();`, "app:3:2"],
  ])("tells the line and column of the source: %s %s", async (app_engine, source, place) => {
    const [lines = []] = await problems(source, { app_engine });
    expect(lines[0]).toContain("undefined_1 is not defined");
    expect(lines[1]).toContain(place);
    expect(lines.at(-1)).toBe(place);
  });

  const told = "nothing was put on the page: neither #core-app nor the body shows anything";
  test.each([
    ["svelte", "<script>let a = 1;</script>"],
    ["vue", "<template></template>"],
    ["react", "const words = 'nothing mounts this';"],
    ["js", "function start() {}"],
    ["js", "export const app = 1; console.log('a note')"],
    ["kaboom", "const game = () => kaboom();"],
    ["phaser", "class Game extends Phaser.Scene {}"],
  ])("tells an author of %s that the page is empty: %s", async (app_engine, source) => {
    const items = await problems(source, { app_engine });
    expect(items.map(([text]) => text)).toContain(told);
  });

  test("takes it back where something comes late, and tells nobody else", async () => {
    await user(stage.app, "guest-4", "guest");
    const source_code = "onkeydown = () => document.body.append('late');";
    const { path } = await stage.make({ name: "Late", public: false, source_code });
    const { page: window, frame: page } = await stage.open(author, path);
    const { frame: other } = await stage.open(await stage.visit("guest-4"), path);
    await page.locator("#core-errors").waitFor();
    expect(await other.locator("#core-errors").count()).toBe(0);
    await window.keyboard.press("a");
    await eventually(async () => (await page.locator("#core-errors").count()) === 0, "the panel to go");
    await window.close();
  });

  test.each([
    ["js", "document.body.append('here')"],
    ["js", "document.querySelector('#core-app').append(document.createElement('canvas'))"],
    ["js", "document.querySelector('#core-app').append(document.createElement('input'))"],
    ["html", "<script>document.title = 'nothing'</script>"],
    ["kaboom", "kaboom()"],
  ])("says nothing of %s: %s", async (app_engine, source_code) => {
    const { path } = await stage.make({ name: "Shown", app_engine, source_code });
    const { page } = await stage.open(author, path);
    await page.waitForLoadState("load");
    await Bun.sleep(1300);
    expect(await page.locator("#core-errors").count()).toBe(0);
    await page.close();
  });
});
