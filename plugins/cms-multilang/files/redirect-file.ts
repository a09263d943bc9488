/**
 * `redirects.yaml`: all redirects of a site in one file, a line for each, because their paths are no names of files. Pure.
 *
 *     "/old-offer": /offer                    301, on every domain
 *     "acme.com/old": https://acme.example/   on one domain
 *     "/moved":
 *       to: /new
 *       status: 302
 */
import { isObject } from "platform";
import { cleanPath } from "../pages/path.ts";
import { redirectCode, redirectPlace } from "../redirects/rule.ts";
import type { SiteRecord } from "./kinds.ts";
import { parseYaml, printYaml, type LineMistake, type Value, type Values } from "./yaml.ts";

export const redirectsFile = "redirects.yaml";

export function printRedirects(records: readonly SiteRecord[]): string {
  const sorted = records.toSorted((a, b) => (a.code < b.code ? -1 : 1));
  const lines = sorted.map(({ code, values: { to = null, status = 301 } }): [string, Value] => [
    code,
    status === 301 ? to : { to, status },
  ]);
  return printYaml(Object.fromEntries(lines));
}

interface ReadRedirect {
  readonly record: SiteRecord;
  readonly line: number;
}

export function readRedirects(text: string): { redirects: ReadRedirect[]; mistakes: LineMistake[] } {
  const { values, lines, mistakes: unread } = parseYaml(text);
  const mistakes = [...unread];
  const found = new Map<string, ReadRedirect>();
  for (const [key, value] of Object.entries(values)) {
    const line = lines.get(key) ?? 1;
    const read = readRedirect(key, value);
    const wrong = "mistake" in read ? read.mistake : found.has(read.code) ? `${key} appears twice` : undefined;
    if (wrong !== undefined) mistakes.push({ line, message: wrong });
    if (!("mistake" in read)) found.set(read.code, { record: read, line });
  }
  return { redirects: [...found.values()], mistakes };
}

function readRedirect(key: string, value: Value): SiteRecord | { readonly mistake: string } {
  const place = redirectPlace(key);
  if (!place) return { mistake: `${key}: must be "/path", or "host/path" for one domain` };
  const clean = cleanPath(place.path);
  if ("mistake" in clean) return { mistake: `${key}: the path ${clean.mistake}` };
  const { to, status = 301, ...more } = mapOf(value);
  if (typeof to !== "string" || typeof status !== "number" || Object.keys(more).length > 0)
    return { mistake: `${key}: must be a path or an address, or a map of to and status` };
  const { path } = clean;
  const { host } = place;
  return { kind: "redirect", code: redirectCode(host, path), values: { path, domain: host, to, status } };
}

function mapOf(value: Value): Values {
  if (typeof value === "string") return { to: value };
  return isObject(value) ? value : {};
}
