import { describe, expect, test } from "bun:test";
import { findEndpoint, innerAnswer, routerOf } from "./http.ts";
import { ok } from "./answers/reply.ts";
import { routeTable } from "./route-table.ts";
import { route } from "./route.ts";

const spec = { summary: "", access: { open: "a test" }, responses: {} } as const;
const paths = [
  "/core/notes",
  "/core/notes/:id",
  "/core/notes/:id.md",
  "/core/notes/all/lines",
  "/core/:kind/:id/lines",
  "/w/:code/*",
];
const router = routerOf(
  routeTable([
    ...paths.map((path) => route("GET", path, spec, () => ok({ path }))),
    route("POST", "/core/notes", spec, () => ok({})),
  ]),
);
const at = (method: string, path: string) => {
  const { url } = new Request(`http://in.process${path}`);
  const found = findEndpoint(router, method, url);
  const picked = found?.endpoint.pick(found.params);
  return picked && [picked.route.path, picked.params];
};

describe("a route is found as over the network", () => {
  test.each([
    ["GET", "/core/notes", ["/core/notes", {}]],
    ["GET", "/core/notes.json?limit=1", ["/core/notes", {}]],
    ["POST", "/core/notes", ["/core/notes", {}]],
    ["GET", "/core/notes/7.json", ["/core/notes/:id", { id: "7" }]],
    ["GET", "/core/notes/7.md", ["/core/notes/:id.md", { id: "7" }]],
    ["GET", "/core/notes/a%2Fb%20%C5%82", ["/core/notes/:id", { id: "a/b ł" }]],
    ["GET", "/core/notes/all/lines", ["/core/notes/all/lines", {}]],
    ["GET", "/core/notes/all", ["/core/notes/:id", { id: "all" }]],
    ["GET", "/core/notes/7/lines", ["/core/:kind/:id/lines", { kind: "notes", id: "7" }]],
    ["GET", "/core/x/../notes", ["/core/notes", {}]],
    ["PUT", "/core/notes", undefined],
    ["GET", "/core/notes/", undefined],
    ["GET", "/core//7/lines", undefined],
    ["GET", "/core/notes/%ff", undefined],
    ["GET", "/core/notes/7/lines/8", undefined],
    ["GET", "/", undefined],
    ["GET", "/w/main/a/b", ["/w/:code/*", { code: "main" }]],
    ["GET", "/w/main/", ["/w/:code/*", { code: "main" }]],
    ["GET", "/w/main", undefined],
  ])("%s %s", (method, path, expected) => {
    expect(at(method, path)).toEqual(expected);
  });
});

test("an answer has its reply's headers and the hints, and a stream is read", async () => {
  const request = new Request("http://in.process/");
  const reply = ok({ a: 1 }, { etag: '"1"' });
  expect(await innerAnswer(request, reply, "id", false, ["odd"])).toEqual({
    status: 200,
    body: '{"a":1}',
    headers: { ...reply.headers, warning: '299 - "odd"' },
  });
  const streamed = await innerAnswer(request, new Response("x", { status: 201, headers: { etag: "y" } }), "id");
  expect([streamed.status, streamed.body, streamed.headers["etag"]]).toEqual([201, "x", "y"]);
});
