import { describe, expect, test } from "bun:test";
import * as errors from "./errors.ts";

const { HttpError, ValidationError } = errors;

test.each<[InstanceType<typeof HttpError>, number, string, Record<string, string>]>([
  [errors.badRequest("no"), 400, "no", {}],
  [errors.unauthorized(), 401, "sign in, or send `Authorization: Bearer <token>`", { "www-authenticate": "Bearer" }],
  [errors.forbidden(), 403, "this is not allowed", {}],
  [errors.notFound(), 404, "not found", {}],
  [errors.methodNotAllowed(["GET", "POST"]), 405, "use GET or POST", { allow: "GET, POST" }],
  [errors.conflict("taken"), 409, "taken", {}],
  [errors.preconditionFailed(), 412, "the object has changed since you read it", {}],
  [errors.tooLarge(16_000), 413, "the body may have at most 16000 bytes", {}],
  [errors.unsupportedType(), 415, "send application/json", {}],
  [errors.tooMany(0), 429, "too many requests, try again in 1 s", { "retry-after": "1" }],
  [errors.tooMany(2.1), 429, "too many requests, try again in 3 s", { "retry-after": "3" }],
  [errors.unavailable("busy"), 503, "busy", { "retry-after": "1" }],
])("%s", (error, status, text, headers) => {
  expect({ status: error.status, body: error.body, headers: error.headers, message: error.message }).toEqual({
    status,
    body: { error: text },
    headers,
    message: text,
  });
});

describe("mistakes in fields", () => {
  test("are thrown together, in the order in which they were found", () => {
    const found = errors.mistakes();
    expect([found.any, found.check()]).toEqual([false, undefined]);
    found.add("name", "is required");
    found.add("stars", "is too large");
    found.add("name", "is too long");
    expect(found.any).toBe(true);
    expect(found.check).toThrow(ValidationError);
    const thrown = (() => {
      try {
        found.check();
      } catch (error) {
        return error instanceof ValidationError ? [error.status, error.body] : error;
      }
      return undefined;
    })();
    expect(thrown).toEqual([422, { name: ["is required", "is too long"], stars: ["is too large"] }]);
  });

  test("may be in a field named like a part of every object", () => {
    const found = errors.mistakes();
    found.add("constructor", "is unknown");
    found.add("toString", "is unknown");
    expect(found.check).toThrow(ValidationError);
  });

  test.each([
    [{}, ""],
    [{ city: ["is required"] }, "city is required"],
    [
      { city: ["is required"], id: ["can't be blank", "is too long"] },
      "city is required; id can't be blank; id is too long",
    ],
    [{ base: ["the two differ"], city: ["is required"] }, "the two differ; city is required"],
  ])("%j in one line", (fields, line) => {
    expect(errors.sentenceOf(fields)).toBe(line);
  });
});
