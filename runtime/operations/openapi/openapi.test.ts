import { describe, expect, test } from "bun:test";
import { Type, type TSchema } from "@sinclair/typebox";
import { answer, pageQuery } from "../../http/answers/answers.ts";
import { field } from "../../http/answers/fields.ts";
import { openapi } from "./openapi.ts";
import { createSchemas } from "./openapi-schemas.ts";
import { ok } from "../../http/answers/reply.ts";
import { route, type Route } from "../../http/route.ts";

describe("a schema is written", () => {
  const cases: [what: string, schema: TSchema, written: Record<string, unknown>][] = [
    ["as a type", Type.Integer({ minimum: 1 }), { type: "integer", minimum: 1 }],
    ["as a choice", field.oneOf(["a", "b"]), { type: "string", enum: ["a", "b"] }],
    ["as a choice or null", field.nullable(field.oneOf(["a"])), { type: ["string", "null"], enum: ["a", null] }],
    ["as a type or null", field.line(5), { type: ["string", "null"], maxLength: 5 }],
    ["as a union", Type.Union([Type.Integer(), Type.String()]), { anyOf: [{ type: "integer" }, { type: "string" }] }],
    ["as a map", field.object(), { type: "object", additionalProperties: {} }],
    ["as anything", Type.Unknown(), {}],
    ["as a time", answer.time(), { type: "string", format: "date-time" }],
    ["as an open object", answer.json(), { type: "object", properties: {}, additionalProperties: true }],
  ];
  test.each(cases)("%s", (_what, schema, written) => {
    expect(createSchemas([]).of(schema)).toEqual(written);
  });

  test("as a reference where it has a name, and once", () => {
    const Part = answer.object("Part", { id: answer.uuid() });
    const Whole = answer.object("Whole", { parts: answer.list(Part), main: field.nullable(Part) });
    const schemas = createSchemas([]);
    const part = { $ref: "#/components/schemas/Part" };
    expect(schemas.of(answer.list(Whole))).toEqual({ type: "array", items: { $ref: "#/components/schemas/Whole" } });
    expect(schemas.of(Part)).toEqual(part);
    expect(schemas.components()).toEqual({
      Part: {
        type: "object",
        required: ["id"],
        properties: { id: { type: "string", format: "uuid" } },
        additionalProperties: false,
      },
      Whole: {
        type: "object",
        required: ["parts", "main"],
        properties: { parts: { type: "array", items: part }, main: { anyOf: [part, { type: "null" }] } },
        additionalProperties: false,
      },
    });
  });

  test("under a number where another plugin has its name", () => {
    const schemas = createSchemas([]);
    schemas.of(answer.object("Item", { a: Type.String() }));
    expect(schemas.of(answer.object("Item", { a: Type.String() }))).toEqual({ $ref: "#/components/schemas/Item" });
    expect(schemas.of(answer.object("Item", { b: Type.String() }))).toEqual({ $ref: "#/components/schemas/Item2" });
  });
});

interface Operation {
  readonly operationId: string;
  readonly tags: string[];
  readonly parameters: object[];
  readonly requestBody: unknown;
  readonly responses: Record<string, { $ref?: string; headers?: object; content?: object; description?: string }>;
}

const access = { privilege: "notes" } as const;

/** The one operation that a route makes. */
function operationOf(one: Route): Operation {
  const { paths } = openapi([one], [], "http://localhost");
  const [operation] = Object.values(Object(paths)).flatMap((methods) => Object.values<Operation>(Object(methods)));
  if (!operation) throw new Error("a route makes an operation");
  return operation;
}

describe("a route", () => {
  const Note = answer.object("Note", { id: Type.Integer() });
  const run = () => ok({});

  test("says what its list answers, takes in the query, and how many there are", () => {
    const list = route(
      "GET",
      "/core/notes",
      {
        summary: "List notes",
        access,
        query: {
          q: "a word",
          ...pageQuery,
          "filter[<field>]": "a value",
          "filter[<field>][<operator>]": "gt",
          "*": "any",
        },
        answers: { 200: answer.list(Note) },
        responses: { 200: [{ id: 1 }] },
      },
      run,
    );
    const { operationId, tags, parameters, responses } = operationOf({ ...list, plugin: "notes" });
    expect({ operationId, tags }).toEqual({ operationId: "getCoreNotes", tags: ["notes"] });
    expect(parameters).toMatchObject([
      { name: "q", in: "query", description: "a word", schema: { type: "string" } },
      { name: "limit", schema: { type: "integer", minimum: 1, maximum: 1000, default: 100 } },
      { name: "offset", schema: { type: "integer", minimum: 0 } },
      { name: "filter", style: "deepObject", schema: { type: "object" } },
      { name: "others", style: "form", schema: { type: "object" } },
    ]);
    expect(responses[200]).toEqual({
      description: "OK",
      headers: {
        "X-Total-Count": { $ref: "#/components/headers/TotalCount" },
        Warning: { $ref: "#/components/headers/Warning" },
      },
      content: {
        "application/json": {
          schema: { type: "array", items: { $ref: "#/components/schemas/Note" } },
          example: [{ id: 1 }],
        },
      },
    });
    expect(Object.keys(responses).toSorted()).toEqual(["200", "400", "401", "403", "422", "429", "503", "default"]);
  });

  test("says with each of its answers that there may be a Warning", () => {
    const spec = {
      summary: "",
      access,
      body: { schema: Note },
      answers: { 201: Note },
      responses: { 201: {}, 418: null },
    };
    const { responses } = operationOf(route("POST", "/core/notes", spec, run));
    const { components } = openapi([route("POST", "/core/notes", spec, run)], [], "http://localhost");
    const { responses: shared, headers } = Object(components);
    const warning = { $ref: "#/components/headers/Warning" };
    expect(headers).toHaveProperty("Warning.schema", { type: "string" });
    for (const [status, own] of Object.entries(responses)) {
      const { headers: named } = own.$ref ? shared[status] : own;
      expect([status, named?.Warning]).toEqual([status, warning]);
    }
  });

  test("with a version says 304, 412 and their headers", () => {
    const one = operationOf(
      route(
        "GET",
        "/core/notes/:id",
        { summary: "", access, answers: { 200: Note }, responses: { 200: { id: 1 }, 304: null } },
        run,
      ),
    );
    expect(one.parameters).toContainEqual({ $ref: "#/components/parameters/IfNoneMatch" });
    expect(one.responses[200]?.headers).toHaveProperty("ETag", { $ref: "#/components/headers/ETag" });
    expect(one.responses[304]).toEqual({ $ref: "#/components/responses/304" });
    const change = route(
      "DELETE",
      "/core/notes/:id",
      { summary: "", access, ifMatch: true, responses: { 204: null } },
      run,
    );
    expect(operationOf(change).parameters).toContainEqual({ $ref: "#/components/parameters/IfMatch" });
    expect(Object.keys(operationOf(change).responses)).toEqual(expect.arrayContaining(["204", "404", "412", "508"]));
  });

  test("whose answer has several types says each, its example with those that it fits", () => {
    const { responses, requestBody } = operationOf(
      route(
        "POST",
        "/core/notes/import",
        {
          summary: "",
          access,
          input: "stream",
          takes: [answer.text("text/csv"), answer.list(Note)],
          request: "id\n1\n",
          answers: { 200: [answer.list(Note), answer.text("text/csv")] },
          responses: { 200: [{ id: 1 }] },
        },
        run,
      ),
    );
    const rows = { type: "array", items: { $ref: "#/components/schemas/Note" } };
    expect(responses[200]?.content).toEqual({
      "application/json": { schema: rows, example: [{ id: 1 }] },
      "text/csv": { schema: { type: "string" } },
    });
    expect(requestBody).toEqual({
      required: true,
      content: { "text/csv": { schema: { type: "string" }, example: "id\n1\n" }, "application/json": { schema: rows } },
    });
  });

  test("that declares no answer is open, and its refusals have the usual form", () => {
    const { responses } = operationOf(
      route(
        "POST",
        "/core/notes",
        { summary: "", access, input: "any", responses: { 201: { any: 1 }, 429: { error: "x" } } },
        run,
      ),
    );
    expect(responses[201]?.content).toEqual({ "application/json": { schema: {}, example: { any: 1 } } });
    expect(responses[429]?.content).toEqual({
      "application/json": { schema: { $ref: "#/components/schemas/Error" }, example: { error: "x" } },
    });
    expect(responses[422]).toEqual({ $ref: "#/components/responses/422" });
  });

  test("of tokens wraps its 422", () => {
    const spec = {
      summary: "",
      access,
      errors: "wrapped",
      body: { schema: Type.Object({}) },
      responses: { 200: null },
    } as const;
    expect(operationOf(route("PATCH", "/core/notes", spec, run)).responses[422]?.content).toEqual({
      "application/json": { schema: { $ref: "#/components/schemas/WrappedErrors" } },
    });
  });
});
