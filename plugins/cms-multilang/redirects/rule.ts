/** Where a redirect leads, and whether redirects lead in a circle. Pure. */
import { trimmedEnd } from "platform";

export interface Rule {
  readonly path: string;
  /** Null: on every domain of the site. */
  readonly domainId: number | null;
  /** `/offer`, or an address (`https://…`). */
  readonly target: string;
}

export interface Host {
  readonly id: number;
  readonly name: string;
}

export const statuses = [301, 302, 308] as const;
export type Status = (typeof statuses)[number];

/** No host has this name, so a path cannot leave it unnoticed. */
const base = "https://path.invalid";

/** The target as it is sent in a header, or why it is none. A path stays a path: `//host`, `/\host` and `/.//host` are refused. */
export function cleanTarget(given: string): { readonly href: string } | { readonly mistake: string } {
  const mistake = { mistake: "must be a path (/offer) or an address (https://…)" };
  if (given.startsWith("/")) {
    if (!URL.canParse(given, base)) return mistake;
    const { origin, href } = new URL(given, base);
    const path = href.slice(base.length);
    return origin === base && !leavesHost(path) ? { href: path } : mistake;
  }
  if (!/^https?:\/\//i.test(given) || !URL.canParse(given)) return mistake;
  const url = new URL(given);
  return url.username === "" && url.password === "" ? { href: url.href } : mistake;
}

/** Whether a browser reads a host in it. */
export function leavesHost(path: string): boolean {
  return path.startsWith("//");
}

/** The path and domain that a target of the same site has; undefined if it leads elsewhere. */
function placeOf(target: string, domains: readonly Host[]): { path: string; domainId: number | null } | undefined {
  const url = new URL(target, base);
  const path = decoded(trimmedEnd(url.pathname.slice(1), "/"));
  if (url.origin === base) return { path, domainId: null };
  const domain = domains.find(({ name }) => name === url.host || name === url.hostname);
  return domain && { path, domainId: domain.id };
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path).normalize("NFC");
  } catch {
    return path;
  }
}

/** How a file names a redirect: `/old`, or `acme.com/old` for one domain. */
export function redirectCode(host: string | null, path: string): string {
  return `${host ?? ""}/${path}`;
}

/** The domain and path of such a name; undefined if it is none. */
export function redirectPlace(code: string): { readonly host: string | null; readonly path: string } | undefined {
  const slash = code.indexOf("/");
  return slash < 0 ? undefined : { host: code.slice(0, slash) || null, path: code.slice(slash + 1) };
}

/** The key in a site's redirects; null = for every domain. A path holds no control character. */
export function redirectKey(domainId: number | null, path: string): string {
  return `${domainId ?? ""}\n${path}`;
}

/**
 * The order in which redirects can be written one by one although each must not lead back: what another leads to comes
 * before it. Rules in a circle come last, so that writing them tells of it.
 */
export function writingOrder<One extends Rule>(rules: readonly One[], domains: readonly Host[]): One[] {
  const byPath = Map.groupBy(rules, ({ path }) => path);
  const targets = (rule: One): One[] => {
    const place = placeOf(rule.target, domains);
    const on = place?.domainId ?? rule.domainId;
    const there = place ? (byPath.get(place.path) ?? []) : [];
    return there.filter(({ domainId }) => domainId === null || on === null || domainId === on);
  };
  const ordered = new Set<One>();
  const begun = new Set<One>();
  for (const first of rules) {
    const stack = [first];
    for (let rule = stack.at(-1); rule; rule = stack.at(-1)) {
      const waiting = begun.has(rule) ? [] : targets(rule).filter((one) => !begun.has(one));
      begun.add(rule);
      if (waiting.length > 0) stack.push(...waiting);
      else ordered.add(stack.pop() ?? rule);
    }
  }
  return [...ordered];
}

/** Redirects that a visitor follows at most; a longer way is one that nobody meant. */
const mostSteps = 10;

/**
 * Whether a visitor who follows `rule` comes back to it, or is led on and on. `others` are the other redirects of the site.
 * A redirect of every domain is taken for each of them, so a circle that no visitor could enter may be refused as well.
 */
export function leadsBack(rule: Rule, others: readonly Rule[], domains: readonly Host[]): boolean {
  const byPath = Map.groupBy([rule, ...others], ({ path }) => path);
  const meets = (a: number | null, b: number | null) => a === null || b === null || a === b;
  let standing: { path: string; domainId: number | null }[] = [];
  const after = ({ target, domainId }: Rule, at: number | null) => {
    const place = placeOf(target, domains);
    // A path stays on the domain on which it was asked for.
    return place ? [{ path: place.path, domainId: place.domainId ?? domainId ?? at }] : [];
  };
  standing = after(rule, rule.domainId);
  const seen = new Set<string>();
  for (let step = 0; step < mostSteps; step++) {
    const followed = standing.flatMap(({ path, domainId }) =>
      (byPath.get(path) ?? []).filter((one) => meets(one.domainId, domainId)).map((one) => ({ one, domainId })),
    );
    if (followed.some(({ one }) => one === rule)) return true;
    const next = followed.flatMap(({ one, domainId }) => after(one, domainId));
    standing = next.filter(({ path, domainId }) => !seen.has(`${domainId} ${path}`));
    for (const { path, domainId } of standing) seen.add(`${domainId} ${path}`);
    if (standing.length === 0) return false;
  }
  return true;
}
