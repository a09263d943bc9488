import { expect, test } from "bun:test";
import { join } from "node:path";
import { ariaKeys, isLeftToTyping, keysOf, keysText } from "./keys.ts";

const none = { ctrlKey: false, metaKey: false, altKey: false, shiftKey: false };

test.each([
  [{ key: "k", ctrlKey: true }, "mod+k", "other+k"],
  [{ key: "k", metaKey: true }, "other+k", "mod+k"],
  [{ key: "K", ctrlKey: true, shiftKey: true }, "mod+shift+k", "other+shift+k"],
  [{ key: "K", ctrlKey: true }, "mod+k", "other+k"], // Caps Lock
  [{ key: "ś", ctrlKey: true, altKey: true }, "mod+alt+ś", "other+alt+ś"],
  [{ key: "s", ctrlKey: true, altKey: true }, "mod+alt+s", "other+alt+s"],
  [{ key: "?", shiftKey: true }, "?", "?"],
  [{ key: "/" }, "/", "/"],
  [{ key: "Enter", shiftKey: true }, "shift+enter", "shift+enter"],
])("%p is %s, on a Mac %s", (pressed, keys, onMac) => {
  expect(keysOf({ ...none, ...pressed }, false)).toBe(keys);
  expect(keysOf({ ...none, ...pressed }, true)).toBe(onMac);
});

test.each([
  ["n", true],
  ["?", true],
  ["shift+n", true],
  ["alt+n", true],
  ["mod+z", true],
  ["mod+k", false],
  ["mod+s", false],
])("%s is left to what is typed: %p", (keys, left) => expect(isLeftToTyping(keys)).toBe(left));

test.each([
  ["mod+k", "Ctrl+K", "⌘K", "Control+K", "Meta+K"],
  ["mod+shift+k", "Ctrl+Shift+K", "⌘⇧K", "Control+Shift+K", "Meta+Shift+K"],
  ["f8", "F8", "F8", "F8", "F8"],
  ["alt+arrowup", "Alt+↑", "⌥↑", "Alt+ArrowUp", "Alt+ArrowUp"],
])("%s is written %s, on a Mac %s; for a reader %s and %s", (keys, text, onMac, aria, ariaOnMac) => {
  expect([keysText(keys, false), keysText(keys, true)]).toEqual([text, onMac]);
  expect([ariaKeys(keys, false), ariaKeys(keys, true)]).toEqual([aria, ariaOnMac]);
});

test.each([
  ["mod+k", "Strg+K", "Ctrl+K"],
  ["mod+shift+delete", "Strg+Umschalt+Entf", "Ctrl+Shift+Delete"],
  ["home", "Pos1", "Home"],
])("%s is %s in German, and %s in Polish", (keys, german, polish) => {
  expect([keysText(keys, false, "de"), keysText(keys, false, "pl")]).toEqual([german, polish]);
  expect(keysText(keys, true, "de")).toBe(keysText(keys, true));
});

test("the table of the README has every shortcut of the registry", async () => {
  const root = join(import.meta.dir, "../../../..");
  const sources = ["sites/studio/app/**/*.{ts,svelte}", "plugins/*/studio/**/*.{ts,svelte}"].flatMap((pattern) =>
    [...new Bun.Glob(pattern).scanSync(root)].filter((path) => !/\.test\.ts$|\/text/.test(path)),
  );
  const registered = new Set<string>();
  for (const path of sources)
    for (const [, keys = ""] of (await Bun.file(`${root}/${path}`).text()).matchAll(/\bkeys: "([^"]+)"/g))
      registered.add(keys);
  const rows = [...registered].map((keys) =>
    [keysText(keys, false), keysText(keys, false, "de"), keysText(keys, true)].map((one) => `\`${one}\``).join(" "),
  );
  const readme = await Bun.file(`${root}/sites/studio/README.md`).text();
  const table = [...readme.matchAll(/^\| (`.+`) +\| (`.+`) +\| (`.+`) +\| \w/gm)].map((row) =>
    row.slice(1, 4).join(" "),
  );
  expect(table.toSorted()).toEqual(rows.toSorted());
  expect(rows.length).toBeGreaterThan(2);
});
