import { expect, test } from "bun:test";
import { changesOf, whoOf } from "./entry.ts";

test.each([
  [{ name: { old: "a", new: "b" } }, { before: { text: "a" }, after: { text: "b" } }],
  [{ name: { new: { a: 1 } } }, { before: undefined, after: { text: '{\n  "a": 1\n}' } }],
  [{ name: { old: 0 } }, { before: { text: "0" }, after: undefined }],
  [{ name: { new: "a", new_size: 5000 } }, { before: undefined, after: { text: "a", size: 5000 } }],
  [{ name: { secret: true } }, { isSecret: true, before: undefined, after: undefined }],
  [{ name: "odd" }, { before: undefined, after: undefined }],
])("%j is shown as %j", (changes, shown) => {
  expect(changesOf(changes)).toEqual([{ field: "name", isSecret: false, ...shown } as never]);
});

test.each([
  [{ actor: "person", login: "ann", user_id: 3 }, "ann"],
  [{ actor: "person", login: null, user_id: 3 }, "3"],
  [{ actor: "app", login: null, app_id: "a" }, "a"],
  [{ actor: "flow", process_id: "p" }, "p"],
  [{ actor: "command", command: "token create" }, "corestead token create"],
  [{ actor: "system" }, "the server"],
  [{ actor: "person" }, "person"],
])("%j is %s", (entry, who) => {
  expect(whoOf(entry, "the server")).toBe(who);
});
