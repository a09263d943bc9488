import { expect, test } from "bun:test";
import { clientModule, type Description } from "./client.ts";

const empty: Description = { paths: {}, components: {} };

/** The lines of the module that hold `text`, without their indent. */
function lines(description: Partial<Description>, text: string): string[] {
  const written = clientModule({ ...empty, ...description });
  // It is always a module, whatever the description says.
  new Bun.Transpiler({ loader: "ts" }).transformSync(written);
  return written.split("\n").flatMap((line) => (line.includes(text) ? [line.trim()] : []));
}

const schemas: [name: string, schema: unknown, type: string][] = [
  ["text", { type: "string" }, "string"],
  ["a whole number", { type: "integer", minimum: 1 }, "number"],
  ["or null", { type: ["string", "null"] }, "string | null"],
  ["a choice", { type: "string", enum: ["a", 'b"'] }, '"a" | "b\\""'],
  ["a choice or null", { type: ["string", "null"], enum: ["a", null] }, '"a" | null'],
  ["a constant", { const: 1 }, "1"],
  ["a list", { type: "array", items: { type: ["integer", "null"] } }, "readonly (number | null)[]"],
  ["a list of anything", { type: "array" }, "readonly (unknown)[]"],
  ["a reference", { $ref: "#/components/schemas/Note" }, 'Schemas["Note"]'],
  ["alternatives", { anyOf: [{ type: "string" }, { type: "array", items: {} }] }, "string | (readonly (unknown)[])"],
  ["all of several", { allOf: [{ $ref: "#/a/A" }, { $ref: "#/a/B" }] }, '(Schemas["A"]) & (Schemas["B"])'],
  ["an open object", { type: "object", additionalProperties: true }, "{ readonly [key: string]: unknown }"],
  ["a map", { type: "object", additionalProperties: { type: "integer" } }, "{ readonly [key: string]: number }"],
  ["an empty object", { type: "object", additionalProperties: false }, "Readonly<Record<string, never>>"],
  ["anything", {}, "unknown"],
  ["no schema", true, "unknown"],
];

test.each(schemas)("%s", (_, schema, type) => {
  expect(lines({ components: { schemas: { Sample: schema } } }, '"Sample"')).toContain(`readonly "Sample": ${type};`);
});

test("the words and names of a plugin stay words and names", () => {
  const hostile = '*/ } export const a = alert(1); /* \u2028 "';
  const operation = {
    summary: hostile,
    parameters: [{ name: hostile, in: "query", description: hostile, schema: { type: "string" } }],
    responses: {
      200: { content: { "application/json": { schema: { type: "object", properties: { [hostile]: {} } } } } },
    },
  };
  const description = { paths: { [`/${hostile}`]: { get: operation } }, components: { schemas: { [hostile]: {} } } };
  const found = lines(description, "alert(1)");
  expect(found.length).toBeGreaterThan(4);
  for (const line of found) expect(line).toMatch(/^(readonly "|\/\*\*)/);
  const names = new Bun.Transpiler({ loader: "ts" }).scan(clientModule({ ...empty, ...description })).exports;
  expect(names.toSorted()).toEqual(["ApiError", "createClient"]);
});

test("a POST that takes no Idempotency-Key is told apart", () => {
  const post = (...names: string[]) => ({
    post: { parameters: names.map((name) => ({ name, in: "header" })), responses: {} },
  });
  const paths = { "/kept": post("Idempotency-Key"), "/sent": post(), "/read": { get: { responses: {} } } };
  expect(lines({ paths }, "const unkeyed")).toEqual([
    'const unkeyed: ReadonlySet<string> = new Set<string>(["/sent"]);',
  ]);
});
