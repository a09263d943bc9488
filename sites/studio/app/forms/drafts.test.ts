/** Drafts in a browser's storage, of which the test keeps count. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { draftKey, dropDraft, keepDraft, readDraft, writeDrafts } from "./drafts.ts";

const kept = new Map<string, string>();
let written = 0;
const storage = {
  getItem: (key: string) => kept.get(key) ?? null,
  setItem: (key: string, value: string) => ((written += 1), kept.set(key, value)),
  removeItem: (key: string) => kept.delete(key),
};
beforeAll(() => {
  const drafts = Buffer.alloc(32, 7).toString("base64");
  Object.assign(globalThis, { localStorage: storage, document: { documentElement: { dataset: { drafts } } } });
});
afterAll(() => {
  Reflect.deleteProperty(globalThis, "localStorage");
  Reflect.deleteProperty(globalThis, "document");
});

const key = draftKey(1, "/studio/core/prompts/new");

test("a short draft is sealed at once, and nobody reads it in the storage", () => {
  keepDraft(key, [], { name: "a word that nobody sees" });
  expect([...kept.values()].join("")).not.toContain("nobody");
  expect(readDraft(key)?.inputs).toEqual({ name: "a word that nobody sees" });
});

test("a long one is sealed once for many changes, and when the page goes away", () => {
  written = 0;
  for (let at = 0; at < 20; at += 1) keepDraft(key, [], { content: `${at}${"x".repeat(200_000)}` });
  expect(written).toBe(0);
  writeDrafts();
  expect(written).toBe(1);
  expect(readDraft(key)?.inputs["content"]).toBe(`19${"x".repeat(200_000)}`);
});

test("one that is given up while it waits does not come back", () => {
  keepDraft(key, [], { content: "x".repeat(200_000) });
  dropDraft(key);
  writeDrafts();
  expect(readDraft(key)).toBeUndefined();
});
