import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Route } from "../runtime/http/route.ts";
import { startTestApp, type TestApp } from "./harness.ts";

/** What PostgreSQL cannot store, in every field of every route with a body; generated from the routes themselves. */
let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

const hostile = [
  String.raw`"a\u0000"`,
  String.raw`"\ud800"`,
  String.raw`["\udfff"]`,
  String.raw`{"a":{"b":["\u0000"]}}`,
  String.raw`{"a":{"b\u0000":1}}`,
  String.raw`{"\ud800":1}`,
  `[1e309]`,
  `-${"9".repeat(250)}e60`,
];
const refusal = /has a character that cannot be stored|is a number too large to be kept/;

const send = ({ method, path }: Route, raw: string) => {
  const address = path.replaceAll(/:[a-z_]+/g, (name) => (name === ":method_name" ? "create" : "nowhere"));
  return app.request(method, address, undefined, { raw, headers: { "content-type": "application/json" } });
};

const keyed = (): Route[] => app.app.routes.filter(({ spec }) => spec.body);
const bodyOf = ({ spec }: Route, fields: string) =>
  spec.body?.key ? `{"${spec.body.key}":{${fields}}}` : `{${fields}}`;

test("is 422 in a declared field, by the field's name", async () => {
  let fields = 0;
  for (const route of keyed()) {
    for (const field of Object.keys(route.spec.body?.schema.properties ?? {})) {
      fields += 1;
      for (const value of hostile) {
        const answer = await send(route, bodyOf(route, `"${field}":${value}`));
        const errors = answer.json?.errors ?? answer.json;
        const told = field === "data" ? answer.text : String(errors?.[field]);
        expect([route.path, field, value, answer.status, told]).toEqual([
          route.path,
          field,
          value,
          422,
          expect.stringMatching(refusal),
        ]);
      }
    }
  }
  expect(fields).toBeGreaterThan(100);
});

test("is ignored in a field that the route does not know, and beside the body's key", async () => {
  for (const route of keyed()) {
    for (const value of hostile) {
      const junk = `"unknown":${value},"unk\\u0000nown":1`;
      for (const raw of [
        bodyOf(route, junk),
        `${bodyOf(route, "").slice(0, -1)}${route.spec.body?.key ? "," : ""}${junk}}`,
      ]) {
        const answer = await send(route, raw);
        expect([route.path, raw, answer.status < 500, refusal.test(answer.text)]).toEqual([
          route.path,
          raw,
          true,
          false,
        ]);
      }
    }
  }
});

test("in an address names nothing: 404 wherever something is named", async () => {
  const named = app.app.routes.filter(
    ({ path, spec }) => path.startsWith("/c") && path.includes("/:") && !spec.body && !spec.input,
  );
  expect(named.length).toBeGreaterThan(70);
  for (const { method, path } of named) {
    const address = path.replaceAll(/:[a-z_]+/g, "a%00b");
    expect([method, path, (await app.request(method, address)).status]).toEqual([method, path, 404]);
  }
});

test("is no server error where any JSON is taken", async () => {
  for (const route of app.app.routes.filter(({ spec }) => spec.input === "any")) {
    for (const value of hostile) {
      for (const raw of [value, `{"a":${value}}`, `{"id":${value},"data":${value}}`, `{"k\\u0000":1}`]) {
        const answer = await send(route, raw);
        expect([route.path, raw, answer.status, answer.status < 500]).toEqual([route.path, raw, answer.status, true]);
      }
    }
  }
});

test("a body in another encoding is 415 on every way in", async () => {
  const routes = app.app.routes.filter(({ spec }) => spec.body || spec.input);
  expect(new Set(routes.map(({ spec }) => spec.input))).toEqual(
    new Set([undefined, "stream", "any", "form", "fields"]),
  );
  for (const { method, path } of routes) {
    const answer = await app.request(method, path.replaceAll(/:[a-z_]+/g, "nowhere"), undefined, {
      raw: new Uint8Array([0x1f, 0x8b]),
      headers: { "content-type": "application/json", "content-encoding": "gzip" },
    });
    expect([method, path, answer.status, answer.headers.get("accept-encoding")]).toEqual([
      method,
      path,
      415,
      "identity",
    ]);
    expect(answer.text).toContain("Content-Encoding");
  }
  const plain = await app.post("/connect/crons/preview.json", undefined, {
    raw: "{}",
    headers: { "content-type": "application/json", "content-encoding": "Identity" },
  });
  expect(plain.status).not.toBe(415);
});
