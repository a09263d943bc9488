/** What a tool gives back: a route's answer as text for a model, bounded, with the facts of its headers. */
import type { HttpError, InnerAnswer } from "platform";

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
  ["warning", "warning"],
] as const;

/** `{ "result": …, "etag": "…" }`, or a refusal with its status and words. `body` replaces the answer's own. */
export function resultOf(answer: InnerAnswer, body = answer.body): ToolResult {
  const { status, headers } = answer;
  if (status >= 400) return failed(refusalText(answer));
  const shown = headers["content-type"]?.includes("json") ? body : JSON.stringify(body);
  const parts = [`"result":${shown === "" || status === 204 ? "null" : shown}`];
  for (const [header, name] of facts) {
    const value = headers[header];
    if (value !== undefined) parts.push(`"${name}":${header === "x-total-count" ? value : JSON.stringify(value)}`);
  }
  return said(`{${parts.join(",")}}`);
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
  return `${status} ${body}${retry === undefined ? "" : ` (try again in ${retry} s)`}`;
}
