/** What people get when a form of a page is refused: a page, where programs get JSON. */
import { escapeHtml } from "./docs-page.ts";
import type { Reply } from "./reply.ts";

/** Whether a browser has sent a form, and shows what comes back. */
export function isFormOfPage({ headers }: Request): boolean {
  const type = headers.get("content-type") ?? "";
  return type.startsWith("application/x-www-form-urlencoded") && (headers.get("accept") ?? "").includes("text/html");
}

/** The same refusal as a page: what is wrong, field by field, and the way back. */
export function refusalPage(request: Request, { status, body, headers }: Reply): Reply {
  const lines = linesOf(body).map((line) => `<li>${escapeHtml(line)}</li>`);
  const back = wayBack(request);
  const link = back === undefined ? "" : `<p><a href="${escapeHtml(back)}">Back</a></p>`;
  const page = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><title>Not accepted</title></head>
<body><main><h1>This was not accepted</h1><ul>${lines.join("")}</ul>${link}</main></body>
</html>
`;
  return { status, body: page, headers: { ...headers, "content-type": "text/html; charset=utf-8" } };
}

/** The messages of a refusal: `{ error }`, or field to messages. */
function linesOf(body: string | null): string[] {
  const told: unknown = JSON.parse(body ?? "{}");
  if (typeof told !== "object" || told === null) return [];
  if ("error" in told && typeof told.error === "string") return [told.error];
  const fields: object = "errors" in told && typeof told.errors === "object" && told.errors ? told.errors : told;
  return Object.entries(fields).map(([field, messages]) => {
    const text = [messages].flat().join(", ");
    return field === "base" ? text : `${field} ${text}`;
  });
}

/** The page that the form was on, where that is one of this origin. */
function wayBack({ url, headers }: Request): string | undefined {
  const from = URL.parse(headers.get("referer") ?? "");
  return from && from.host === (headers.get("host") ?? new URL(url).host)
    ? `${from.pathname}${from.search}`
    : undefined;
}
