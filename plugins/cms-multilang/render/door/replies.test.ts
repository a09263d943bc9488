import { describe, expect, test } from "bun:test";
import { cacheControlOf, htmlType, movedTo, pageReply, plainPage, siteHeaders, typeOf } from "./replies.ts";

describe("the type of a page", () => {
  const table: [path: string, type: string][] = [
    ["", htmlType],
    ["about", htmlType],
    ["about.html", htmlType],
    ["feed.xml", "application/xml; charset=utf-8"],
    ["a/b/data.json", "application/json; charset=utf-8"],
    [".well-known/security.txt", "text/plain; charset=utf-8"],
    ["app.webmanifest", "application/manifest+json; charset=utf-8"],
    ["feed.XML", htmlType],
    ["feed.xml/more", htmlType],
    ["feed.xml2", htmlType],
    ["a.constructor", htmlType],
  ];
  test.each(table)("of %p is %s", (path, type) => expect(typeOf(path)).toBe(type));
});

test.each([
  [null, "public, max-age=0, must-revalidate"],
  [0, "public, max-age=0"],
  [60, "public, max-age=60"],
])("a page that may be kept for %p seconds says %s", (seconds, header) => {
  expect(cacheControlOf(seconds)).toBe(header);
});

describe("an answer", () => {
  const page = (status: number, text: string) => pageReply({ status, text, type: htmlType, cacheControl: "no-store" });
  test("of the same text has the same tag, of another text another one", () => {
    expect(page(200, "a").headers["etag"]).toBe(page(200, "a").headers["etag"] ?? "");
    expect(page(200, "a").headers["etag"]).not.toBe(page(200, "b").headers["etag"] ?? "");
  });

  test.each([404, 500])("with the status %p has no tag, so that it is never taken for the page", (status) => {
    expect(page(status, "a").headers).not.toHaveProperty("etag");
  });

  test("names the language that it is in, if it has one", () => {
    const given = { status: 200, text: "a", type: htmlType, cacheControl: "no-store" };
    expect(pageReply({ ...given, locale: "de" }).headers["content-language"]).toBe("de");
    expect(pageReply(given).headers).not.toHaveProperty("content-language");
  });

  test("that leads elsewhere is permanent, but asked for again each time", () => {
    const { status, body, headers } = movedTo("/new");
    expect([status, body, headers["location"], headers["cache-control"]]).toEqual([
      301,
      null,
      "/new",
      "public, max-age=0, must-revalidate",
    ]);
  });

  test.each(["404", "500"] as const)(
    "that is the plain page %s is kept by nobody and may stand in no other frame",
    (kind) => {
      const { status, headers } = plainPage(kind, "de");
      expect([status, headers["cache-control"]]).toEqual([Number(kind), "no-store"]);
      expect(headers).toMatchObject(siteHeaders);
    },
  );
});
