import { answer, noContent, notFound, route, text, type BaseContext, type Route } from "platform";

const dayMs = 86_400_000;

/** `contact` is for security.txt; "" = the file does not exist. */
export function securityRoutes(ctx: BaseContext, contact: string): Route[] {
  const perMinute = ctx.limiter("security.reports", { limit: 30, windowSeconds: 60 });
  return [
    route(
      "POST",
      "/csp-report",
      {
        summary: "Report a violation of a page's policy",
        description:
          "Browsers send it automatically (`application/csp-report` or `application/reports+json`); 30 a minute are logged.",
        access: { open: "a browser reports without credentials" },
        input: "any",
        cors: true,
        onSites: true,
        reads: () => true,
        request: {
          "csp-report": { "document-uri": "https://core.example.com/a/clicks", "effective-directive": "img-src" },
        },
        responses: { 204: null },
      },
      async ({ body }) => {
        await logReports(ctx.log, perMinute, body);
        return noContent();
      },
    ),
    route(
      "GET",
      "/.well-known/security.txt",
      {
        summary: "The contact for security problems (RFC 9116)",
        access: { open: "it is for everyone" },
        onSites: true,
        answers: { 200: answer.text("text/plain") },
        responses: {
          200: "Contact: mailto:security@example.com\nExpires: 2026-07-31T00:00:00.000Z\n",
          404: { error: "not found" },
        },
      },
      async () => {
        if (contact === "") throw notFound();
        // In whole days, so that the file changes once a day.
        const expires = new Date((Math.floor(Date.now() / dayMs) + 180) * dayMs).toISOString();
        return text(200, `Contact: ${contact}\nExpires: ${expires}\n`, "text/plain; charset=utf-8");
      },
    ),
  ];
}

const maxChars = 200;
const maxReports = 5;

/** Writes browsers' reports to the log. Anybody may send one, so they are limited in number and length, without queries. */
export async function logReports(
  log: Pick<BaseContext["log"], "warn">,
  perMinute: ReturnType<BaseContext["limiter"]>,
  body: unknown,
): Promise<void> {
  for (const report of reportsIn(body).slice(0, maxReports)) {
    if (!(await perMinute.take("all")).allowed) return;
    log.warn("a page broke its policy", report);
  }
}

/** Reads the format of `report-uri` and that of `report-to`. */
export function reportsIn(body: unknown): Record<string, string>[] {
  const given = Array.isArray(body) ? body.map((one) => fieldOf(one, "body")) : [fieldOf(body, "csp-report")];
  return given.flatMap((report) => {
    const directive = textOf(report, "effective-directive", "effectiveDirective", "violated-directive");
    if (directive === "") return [];
    const page = withoutQuery(textOf(report, "document-uri", "documentURL"));
    return [{ directive, page, blocked: withoutQuery(textOf(report, "blocked-uri", "blockedURL")) }];
  });
}

function fieldOf(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
  return Object.entries(value).find(([key]) => key === name)?.[1];
}

function textOf(value: unknown, ...names: readonly string[]): string {
  const texts = names.map((name) => fieldOf(value, name));
  const found = texts.find((one) => typeof one === "string");
  return typeof found === "string" ? found.slice(0, maxChars) : "";
}

/** A query may contain private values. */
function withoutQuery(address: string): string {
  return address.split(/[?#]/, 1)[0] ?? "";
}
