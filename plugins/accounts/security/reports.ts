/**
 * Writes browsers' reports to the log. Anybody may send one, so they are limited in number and length, without queries.
 */
import type { BaseContext } from "platform";

interface Needed {
  readonly log: Pick<BaseContext["log"], "warn">;
  readonly perMinute: ReturnType<BaseContext["limiter"]>;
}

const maxChars = 200;
const maxReports = 5;

export type Reports = ReturnType<typeof createReports>;

export function createReports({ log, perMinute }: Needed) {
  return async (body: unknown): Promise<void> => {
    for (const report of reportsIn(body).slice(0, maxReports)) {
      if (!(await perMinute.take("all")).allowed) return;
      log.warn("a page broke its policy", report);
    }
  };
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
  const found = texts.find((text) => typeof text === "string");
  return typeof found === "string" ? found.slice(0, maxChars) : "";
}

/** A query may contain private values. */
function withoutQuery(address: string): string {
  return address.split(/[?#]/, 1)[0] ?? "";
}
