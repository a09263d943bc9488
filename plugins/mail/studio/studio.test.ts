import { expect, test } from "bun:test";
import { patchOf, typedOf, wordsToTry } from "./forms.ts";

test.each([
  [
    { source: "account", url: "smtp://a", from: "b@c.d", user: null, tls: null },
    { url: "smtp://a", from: "b@c.d" },
  ],
  [{ source: "server", url: null, from: "b@c.d" }, {}],
  [{ source: null }, {}],
])("the form of %j begins with %j", (server, typed) => {
  const empty = { url: "", user: "", password: "", from: "", reply_to: "", tls: "" };
  expect(typedOf(server)).toEqual({ ...empty, ...typed });
});

test("an empty password stays as it is, and other empty fields take their value away", () => {
  const typed = { url: "smtp://a", user: "", password: "", from: "b@c.d", reply_to: "", tls: "" };
  const patch = { url: "smtp://a", from: "b@c.d", user: null, reply_to: null, tls: null };
  expect(patchOf(typed)).toEqual(patch);
  expect(patchOf({ ...typed, user: "u", password: "p", tls: "none" })).toEqual({
    ...patch,
    user: "u",
    password: "p",
    tls: "none",
  });
});

test.each([
  [
    { code: "test", language: "en", subject: "a", text: "b", html: "" },
    { code: "test", language: "en", subject: "a", text: "b", html: null },
  ],
  [
    { code: "test", language: "en", subject: "a", text: "b" },
    { code: "test", language: "en", subject: "a", text: "b", html: null },
  ],
  [{ code: "test", language: "en", subject: "", text: "b" }, undefined],
  [{ code: "", language: "en", subject: "a", text: "b" }, undefined],
])("of %j the preview asks with %j", (inputs, asked) => {
  expect(wordsToTry(inputs)).toEqual(asked);
});
