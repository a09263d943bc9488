/**
 * The addresses that people see, and the ones by which pages are found: `/studio/tables/orders` is the page
 * `core/dbs/orders/records`. Those of the first Studio, which are the latter, lead to the former.
 */
const start = "/studio/";

/** Shown, own; `*` is whatever follows, also nothing. The first that fits counts. */
const pairs: readonly (readonly [shown: string, own: string])[] = [
  ["tables/new", "core/dbs/new"],
  ["tables/:code", "core/dbs/:code/records"],
  ["tables/*", "core/dbs/*"],
  ["apps/*", "core/apps/*"],
  ["files/*", "core/media/*"],
  ["ai", "core/prompts"],
  ["ai/prompts/*", "core/prompts/*"],
  ["flows/*", "connect/flows/*"],
  ["automation/runs/*", "connect/processes/*"],
  ["automation/connections/*", "connect/connectors/*"],
  ["automation/webhooks/*", "account/webhooks/*"],
  ["automation/incoming/*", "connect/hooks/*"],
  ["automation/schedules/*", "account/crons/*"],
  ["sites", "cms/sites"],
  ["sites/new", "cms/sites/new"],
  ["sites/:code/settings", "cms/sites/:code"],
  ["sites/:code", "cms/:code/pages"],
  ["sites/:code/files", "cms/:code/media"],
  ["sites/:code/*", "cms/:code/*"],
  ["me", "account/me"],
  ["admin/roles/*", "account/groups/*"],
  ["admin/mail/*", "account/mails/*"],
  ["admin/mail-texts/*", "account/mail_texts/*"],
  ["admin/sign-in/*", "account/sign_in_providers/*"],
  ["admin/*", "account/*"],
];

/** Lists of what is in all sites: no site's code. */
const listsOfSites = new Set([
  "sites",
  "pages",
  "layouts",
  "paragraphs",
  "articles",
  "categories",
  "domains",
  "redirects",
  "apps",
]);

/** What the address bar shows of a page. */
export function shownPath(path: string): string {
  const own = whole(path);
  const shown = moved(own, ([to, from]) => [from, to]);
  // A site may be called "new".
  return ownPath(shown) === own ? shown : own;
}

/** By what a page at this address is found. */
export function ownPath(shown: string): string {
  return whole(moved(shown, (pair) => pair));
}

/** A table opens on its records. */
function whole(own: string): string {
  return own.replace(/^\/studio\/core\/dbs\/(?!new$)[^/]+$/, "$&/records");
}

function moved(path: string, way: (pair: readonly [string, string]) => readonly [string, string]): string {
  if (!path.startsWith(start)) return path;
  const parts = path.slice(start.length).split("/");
  // An app of a module.
  if (parts.length === 3 && parts[0] !== "core" && parts[1] === "apps") return path;
  for (const pair of pairs) {
    const [from, to] = way(pair);
    const found = fitted(from.split("/"), to.split("/"), parts);
    if (found) return start + found.join("/");
  }
  return path;
}

function fitted(from: readonly string[], to: readonly string[], parts: readonly string[]): string[] | undefined {
  const isOpen = from.at(-1) === "*";
  const fixed = isOpen ? from.slice(0, -1) : from;
  if (isOpen ? parts.length < fixed.length : parts.length !== fixed.length) return undefined;
  let code = "";
  for (const [at, word] of fixed.entries()) {
    const part = parts[at] ?? "";
    if (word !== ":code") {
      if (word !== part) return undefined;
    } else if (part === "" || (fixed[0] === "cms" && listsOfSites.has(part))) return undefined;
    else code = part;
  }
  return to.flatMap((word) => (word === "*" ? parts.slice(fixed.length) : word === ":code" ? [code] : [word]));
}
