/** What a tool gives back: a route's answer as text for a model, bounded, with the facts of its headers. */
import { isObject, type HttpError, type InnerAnswer } from "platform";

export interface ToolResult {
  [key: string]: unknown;
  content: { type: "text"; text: string }[];
  isError?: boolean;
}

/** An app's source may have 200,000 characters, and more when it is written as JSON. */
export const maxAnswerChars = 300_000;

const facts = [
  ["etag", "etag"],
  ["x-total-count", "total"],
  ["x-next-cursor", "next"],
] as const;

/**
 * `{ "result": …, "etag": "…" }`, or a refusal with its status and words. `body` replaces the answer's own, `more` are
 * warnings of the tool's.
 */
export function resultOf(answer: InnerAnswer, body = answer.body, more: readonly string[] = []): ToolResult {
  const { status, headers } = answer;
  if (status >= 400) return failed(refusalText(answer));
  const shown = headers["content-type"]?.includes("json") ? body : JSON.stringify(body);
  const parts = [`"result":${shown === "" || status === 204 ? "null" : shown}`];
  for (const [header, name] of facts) {
    const value = headers[header];
    if (value !== undefined) parts.push(`"${name}":${header === "x-total-count" ? value : JSON.stringify(value)}`);
  }
  const warnings = [...more, ...warningsOf(headers["warning"])];
  if (warnings.length > 0) parts.push(`"warnings":${JSON.stringify(warnings)}`);
  return said(`{${parts.join(",")}}`);
}

/** The texts of `299 - "text", 299 - "more"`, in which other characters than ASCII are percent-encoded. */
function warningsOf(header = ""): string[] {
  return [...header.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, quoted = ""]) => {
    const text = quoted.replaceAll(/\\(.)/g, "$1");
    try {
      return decodeURIComponent(text);
    } catch {
      return text; // a percent sign of its own
    }
  });
}

export function said(text: string): ToolResult {
  if (text.length <= maxAnswerChars) return { content: [{ type: "text", text }] };
  return failed(
    `the answer has ${text.length} characters, and at most ${maxAnswerChars} are sent: ask for fewer (limit, fields, one at a time)`,
  );
}

export function failed(text: string): ToolResult {
  return { content: [{ type: "text", text: shortened(text, 20_000) }], isError: true };
}

/** Of what a tool itself refuses, in the words of a route. */
export function failedBy(error: HttpError): ToolResult {
  return failed(`${error.status} ${JSON.stringify(error.body)}`);
}

export function shortened(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most)}… (${text.length} characters)`;
}

function refusalText({ status, body, headers }: InnerAnswer): string {
  const retry = headers["retry-after"];
  const warnings = warningsOf(headers["warning"]);
  const more = warnings.length > 0 ? `\nwarnings: ${JSON.stringify(warnings)}` : "";
  return `${status} ${body}${retry === undefined ? "" : ` (try again in ${retry} s)`}${more}`;
}

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

/**
 * A call of a tool in the form in which clients send it. It is answered here, because the package takes longer to judge
 * a message several times over than most routes take to answer; whatever differs in anything is the package's to judge.
 */
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
