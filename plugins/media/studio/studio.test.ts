import { expect, test } from "bun:test";
import { linesOf, placeOf, sizeText, textsOf, thumbnailOf } from "./files.ts";

test.each([
  [{ id: "a", mime: "image/jpeg", width: 1600 }, "/media/a/w/320.webp", "/media/a/w/960.webp"],
  [{ id: "a", mime: "image/png", width: 200 }, "/media/a/w/160.webp", "/media/a/w/160.webp"],
  [{ id: "a", mime: "image/png", width: 40, url: "/media/a/x.png" }, "/media/a/x.png", "/media/a/x.png"],
  [{ id: "a", mime: "image/svg+xml", width: null, url: "/media/a/x.svg" }, "/media/a/x.svg", "/media/a/x.svg"],
  [{ id: "a", mime: "application/pdf", width: null }, undefined, undefined],
  [{ id: "a", mime: "image/jpeg", width: null }, undefined, undefined],
])("%j is shown by %p", (row, small, large) => {
  expect([thumbnailOf(row, 320), thumbnailOf(row, 960)]).toEqual([small, large]);
});

test.each([
  [0, "0 byte"],
  [999, "999 byte"],
  [284_113, "284 kB"],
  [5_000_000_000, "5 GB"],
  [7e15, "7,000,000 GB"],
])("%p bytes are %p", (bytes, words) => {
  expect(sizeText(bytes, "en")).toBe(words);
});

test.each([
  [{ en: "Our team", pl: "Nasz zespół: trzech" }, "en: Our team\npl: Nasz zespół: trzech"],
  [{}, ""],
])("%j is written as lines, and read again", (texts, lines) => {
  expect(linesOf(texts)).toBe(lines);
  expect(textsOf(lines)).toEqual(texts);
});

test("a line without a language keeps its words for the server's answer", () => {
  expect(textsOf("Our team\n\n EN : Team ")).toEqual({ "Our team": "", en: "Team" });
});

test.each([
  [{ model: "Cms::Page", id: 7, site_code: "acme" }, "/cms/pages", "/cms/acme/pages/7"],
  [{ model: "Cms::Site", id: 3, site_code: "acme" }, "/cms/sites", "/cms/sites/3"],
  [{ model: "Cms::Paragraph", id: 9, site_code: null }, "/cms/paragraphs", "/cms/paragraphs/9"],
])("what uses a file, %j, is a %s at %s", (use, resource, address) => {
  expect(placeOf(use)).toEqual({ resource, address });
});
