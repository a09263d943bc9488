import { describe, expect, test } from "bun:test";
import { documented } from "./documented.ts";

/** The comparison of answers with /openapi.json must itself find what is wrong. */
const json = (schema: object, headers?: object) => ({
  content: { "application/json": { schema } },
  ...(headers && { headers }),
});
const Note = {
  type: "object",
  required: ["id"],
  properties: { id: { type: "integer" }, at: { type: "string", format: "date-time" } },
  additionalProperties: false,
};
const { check } = documented({
  paths: {
    "/notes.json": {
      get: { responses: { 200: json({ type: "array", items: { $ref: "#/components/schemas/Note" } }) } },
    },
    "/notes/{id}.json": {
      get: {
        responses: { 200: json({ $ref: "#/components/schemas/Note" }), 404: { $ref: "#/components/responses/404" } },
      },
      delete: { responses: { 204: {}, default: { $ref: "#/components/responses/default" } } },
    },
    "/notes/latest.json": { get: { responses: { 200: json({ type: "null" }) } } },
    "/notes/{id}.md": { get: { responses: { 200: { content: { "text/markdown": { schema: { type: "string" } } } } } } },
    "/open": { get: { responses: { 200: json({}) } }, post: { responses: { 422: json({ type: "null" }) } } },
    "/hinted": { get: { responses: { 200: json({ type: "object" }, { Warning: {} }) } } },
    "/site/{path}": { get: { responses: { 200: json({ type: "string" }) } } },
  },
  components: {
    schemas: { Note },
    responses: { 404: json({ type: "object", required: ["error"] }), default: json({ required: ["error"] }) },
  },
});

const asked = (name: string) => {
  const [method = "", path = ""] = name.split(" ");
  return { method, path };
};
const answer = (status: number, body: unknown, type = "application/json; charset=utf-8", more = {}) => ({
  status,
  headers: new Headers({ "content-type": type, ...more }),
  text: typeof body === "string" && !type.includes("json") ? body : (JSON.stringify(body) ?? ""),
});

describe("an answer as documented", () => {
  const cases: [name: string, answer: ReturnType<typeof answer>][] = [
    ["GET /notes", answer(200, [{ id: 1, at: "2026-01-31T10:00:00.000Z" }])],
    ["GET /notes.json?limit=2", answer(200, [])],
    ["GET /notes/7", answer(200, { id: 7 })],
    ["GET /notes/7", answer(404, { error: "not found" })],
    ["GET /notes/latest", answer(200, null)],
    ["GET /notes/7.md", answer(200, "text", "text/markdown; charset=utf-8")],
    ["DELETE /notes/7", answer(204, undefined)],
    ["DELETE /notes/7", answer(500, { error: "internal error" })],
    ["GET /hinted", answer(200, {}, "application/json", { warning: '299 - "x"' })],
    ["GET /site/a/b/c", answer(200, "x")],
    ["GET /open", answer(418, { any: "thing" })],
    ["POST /open", answer(200, { any: "thing" })],
    ["GET /elsewhere", answer(418, { any: "thing" })],
    ["PATCH /notes", answer(405, { error: "use GET" })],
  ];
  test.each(cases)("%s passes", (name, given) => check(asked(name), given));
});

describe("an answer that is not", () => {
  const cases: [name: string, answer: ReturnType<typeof answer>, says: string][] = [
    ["GET /notes", answer(200, [{ id: 1 }, { id: "2" }]), "/1/id must be integer"],
    ["GET /notes", answer(200, [{ at: "2026-01-31" }]), "must have required property 'id'"],
    ["GET /notes/7.json", answer(200, { id: 7, at: "yesterday" }), 'must match format "date-time"'],
    ["GET /notes/7", answer(200, { id: 7, secret: 1 }), '"additionalProperty":"secret"'],
    ["GET /notes/7", answer(404, {}), "must have required property 'error'"],
    [
      "GET /notes/7",
      answer(422, {}),
      "422 is not as /notes/{id}.json of /openapi.json says: this status is not declared",
    ],
    ["GET /notes/7", answer(200, "<p>", "text/html"), 'the type "text/html" is not declared'],
    ["GET /notes", answer(500, {}), "this status is not declared"],
    ["DELETE /notes/7", answer(204, { id: 7 }), "it has no body"],
    ["GET /notes", answer(200, [], "application/json", { warning: '299 - "x"' }), "its header Warning is not declared"],
  ];
  test.each(cases)("%s fails and says where", (name, given, says) => {
    expect(() => check(asked(name), given)).toThrow(says);
  });
});
