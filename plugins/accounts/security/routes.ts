import { answer, noContent, notFound, route, text, type Route } from "platform";
import type { Reports } from "./reports.ts";

const dayMs = 86_400_000;

interface Needed {
  readonly reports: Reports;
  /** For security.txt; "" = the file does not exist. */
  readonly contact: string;
}

export function securityRoutes({ reports, contact }: Needed): Route[] {
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
        await reports(body);
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
