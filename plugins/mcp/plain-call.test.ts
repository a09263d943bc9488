import { expect, test } from "bun:test";
import { plainAnswer, plainCallOf } from "./answer.ts";

const about = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "tests", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": { roots: {} },
};
const headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "get" };
const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "get", arguments: { id: 1 } } };
const modern = { ...call, params: { ...call.params, _meta: about } };

test.each([
  [call, { "mcp-protocol-version": "2025-11-25" }, false],
  [call, {}, false],
  [{ ...call, params: { ...call.params, _meta: { progressToken: 1 } } }, {}, false],
  [{ ...call, id: "a" }, {}, false],
  [modern, headers, true],
])("%j with %j is a plain call", (message, given, isModern) => {
  const found = plainCallOf(message, new Headers(given));
  expect(found).toEqual({ id: message.id, name: "get", args: { id: 1 }, isModern });
});

test.each([
  ["another method", { ...call, method: "tools/list" }, {}],
  ["no id", { jsonrpc: "2.0", method: "tools/call", params: call.params }, {}],
  ["an id of another type", { ...call, id: 1.5 }, {}],
  ["an unknown key", { ...call, extra: 1 }, {}],
  ["an unknown parameter", { ...call, params: { ...call.params, task: {} } }, {}],
  ["arguments that are no object", { ...call, params: { name: "get", arguments: [] } }, {}],
  ["an unknown revision", call, { "mcp-protocol-version": "2020-01-01" }],
  ["a newer header than its body", call, headers],
  ["a newer body than its header", modern, { "mcp-protocol-version": "2025-11-25" }],
  ["no header of its method", modern, { ...headers, "mcp-method": "" }],
  ["the name of another tool", modern, { ...headers, "mcp-name": "list" }],
  [
    "a future revision",
    {
      ...call,
      params: { ...call.params, _meta: { ...about, "io.modelcontextprotocol/protocolVersion": "2030-01-01" } },
    },
    headers,
  ],
])("%s is left to the package", (_, message, given) => {
  expect(plainCallOf(message, new Headers(given))).toBeUndefined();
});

test("the answer of the newer revision says what it is", () => {
  const result = { content: [{ type: "text" as const, text: "x" }] };
  const plain = { id: 1, name: "get", args: {} };
  expect(JSON.parse(plainAnswer({ ...plain, isModern: false }, result))).toEqual({ jsonrpc: "2.0", id: 1, result });
  expect(JSON.parse(plainAnswer({ ...plain, isModern: true }, result)).result).toMatchObject({
    ...result,
    resultType: "complete",
    _meta: { "io.modelcontextprotocol/serverInfo": { name: "corestead" } },
  });
});
