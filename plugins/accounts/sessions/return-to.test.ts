import { expect, test } from "bun:test";
import fc from "fast-check";
import { safePath } from "./browser.ts";

test.each([
  ["/", "/"],
  ["/a/app", "/a/app"],
  ["/a/app?x=1&y=//evil#top", "/a/app?x=1&y=//evil#top"],
  ["/%2f%2fevil", "/%2f%2fevil"],
  ["/żółw", "/%C5%BC%C3%B3%C5%82w"],
  ["/a/../b", "/b"],
])("%s is where one goes: %s", (given, path) => {
  expect(safePath(given)).toBe(path);
});

test.each(
  [
    "",
    "a",
    "//evil.com",
    "///evil.com",
    "/\\evil.com",
    "\\/evil.com",
    "/\t/evil.com",
    "/\n/evil.com",
    "https://evil.com",
  ].concat(
    ["javascript:alert(1)", "data:text/html,x", "/.//evil.com", "/..//evil.com", "/a/..//evil.com", "/%2e//evil.com"],
    [
      "/a\r\nset-cookie: x=1",
      "/a\u0000b",
      " /a",
      "/a b",
      `/${"a".repeat(3000)}`,
      "@evil.com",
      "/\u0000/evil.com",
      "/\x7f",
    ],
  ),
)("%j goes to /", (given) => {
  expect(safePath(given)).toBe("/");
});

test("nothing at all goes to /", () => {
  expect([safePath(null), safePath(undefined)]).toEqual(["/", "/"]);
});

test("whatever is given, a browser stays on the origin", () => {
  const piece = fc.constantFrom(
    "/",
    "\\",
    ".",
    "..",
    "%2e",
    "%2f",
    "evil.com",
    "@",
    ":",
    "?",
    "#",
    "\t",
    "\n",
    "\r",
    "a",
    "//",
    "https:",
    "ż",
  );
  const hostile = fc.array(piece, { maxLength: 8 }).map((parts) => `/${parts.join("")}`);
  fc.assert(
    fc.property(fc.oneof(hostile, fc.webPath(), fc.string()), (given) => {
      const path = safePath(given);
      const target = new URL(path, "https://core.example.com/login");
      expect(target.origin).toBe("https://core.example.com");
      expect(path).toMatch(/^\/(?!\/)[\x21-\x7e]*$/);
      expect(safePath(path)).toBe(path);
    }),
    { numRuns: 2000 },
  );
});
