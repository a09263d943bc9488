/**
 * A call of a tool in the form in which clients send it. It is answered here, because the package takes longer to judge
 * a message several times over than most routes take to answer; whatever differs in anything is the package's to judge.
 */
import { isObject } from "platform";
import type { ToolResult } from "./answer.ts";

export interface PlainCall {
  readonly id: string | number;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** Revision 2026-07-28. */
  readonly isModern: boolean;
}

/** What this server calls itself over the protocol. */
export const serverInfo = { name: "corestead", title: "Corestead", version: "1" };
const modern = "2026-07-28";
const older: ReadonlySet<string | null> = new Set([null, "2025-11-25", "2025-06-18", "2025-03-26"]);
const meta = "io.modelcontextprotocol/";
const plainKeys = new Set(["jsonrpc", "id", "method", "params"]);
const paramKeys = new Set(["name", "arguments", "_meta"]);

export function plainCallOf(message: Readonly<Record<string, unknown>>, headers: Headers): PlainCall | undefined {
  const { jsonrpc, id, method, params } = message;
  if (jsonrpc !== "2.0" || method !== "tools/call" || !isObject(params) || !hasOnly(message, plainKeys))
    return undefined;
  if (typeof id !== "string" && !(typeof id === "number" && Number.isSafeInteger(id))) return undefined;
  const { name, arguments: args = {}, _meta: about = {} } = params;
  if (typeof name !== "string" || !isObject(args) || !isObject(about) || !hasOnly(params, paramKeys)) return undefined;
  const isModern = isModernCall(name, about, headers);
  if (!isModern && !isOlderCall(about, headers)) return undefined;
  return { id, name, args, isModern };
}

export function plainAnswer({ id, isModern }: PlainCall, result: ToolResult): string {
  const whole = isModern ? { ...result, resultType: "complete", _meta: { [`${meta}serverInfo`]: serverInfo } } : result;
  return JSON.stringify({ jsonrpc: "2.0", id, result: whole });
}

/** What it says of itself in its headers is what its body says. */
function isModernCall(name: string, about: Readonly<Record<string, unknown>>, headers: Headers): boolean {
  const client = about[`${meta}clientInfo`];
  return (
    about[`${meta}protocolVersion`] === modern &&
    isObject(client) &&
    typeof client["name"] === "string" &&
    typeof client["version"] === "string" &&
    isObject(about[`${meta}clientCapabilities`]) &&
    headers.get("mcp-protocol-version") === modern &&
    headers.get("mcp-method") === "tools/call" &&
    headers.get("mcp-name") === name
  );
}

function isOlderCall(about: Readonly<Record<string, unknown>>, headers: Headers): boolean {
  return older.has(headers.get("mcp-protocol-version")) && !Object.keys(about).some((key) => key.startsWith(meta));
}

function hasOnly(value: Readonly<Record<string, unknown>>, known: ReadonlySet<string>): boolean {
  return Object.keys(value).every((key) => known.has(key));
}
