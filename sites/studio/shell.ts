/** The one HTML document of the Studio. */
import { escapeHtml, contentHash, createPackedText, type PluginFacts, type StudioPage } from "platform";
import { answersPath, placeOf } from "./app/address.ts";
import { homePath } from "./app/home/home.ts";
import { ownPath } from "./app/shown.ts";
import type { StudioFiles } from "./files.ts";

interface ShellData {
  readonly files: StudioFiles;
  readonly nonce: string;
  readonly accountName: string;
  /** Whether nothing acts on the outside. */
  readonly isRehearsal: boolean;
  /** Whether `/studio/kit` shows the parts of which pages are made. */
  readonly showsKit: boolean;
  /** What the browser asks for, unless another one was chosen in the Studio. */
  readonly language: string;
  /** Opens the drafts that this person has in their browsers. */
  readonly draftKey: string;
  /** The address that was opened. */
  readonly pathname: string;
  readonly search: string;
}

/** Requests that a page begins with (app/state/session.svelte.ts), sent before its scripts are loaded. */
function firstRequests(place: ReturnType<typeof placeAt>, search: string): string[] {
  const frame = "/studio/-/frame.json";
  if (place.kind === "home") return [frame, homePath];
  if (place.kind !== "page") return [frame, "/openapi.json"];
  const { first = [], early } = place.page;
  const own = Object.entries(place.params).map(
    ([name, value]) => [`%7B${name}%7D`, encodeURIComponent(value)] as const,
  );
  const filled = first.map((path) => own.reduce((text, [name, value]) => text.replaceAll(name, value), path));
  const answers = search === "" && filled.length > 0 ? [answersPath(filled)] : [];
  return [frame, ...answers, ...(early ? [] : ["/openapi.json"])];
}

const placeAt = (pathname: string, files: StudioFiles) => placeOf(ownPath(pathname), [], files.pages);

export function shell({
  files,
  nonce,
  accountName,
  isRehearsal,
  showsKit,
  language,
  draftKey,
  pathname,
  search,
}: ShellData): string {
  const place = placeAt(pathname, files);
  const own = place.kind === "page" ? place.page.files : place.kind === "home" ? files.home : files.generic;
  const scripts = [...files.preloads, ...own, ...(Object.hasOwn(files.words, language) ? [files.words[language]] : [])];
  const preloads = scripts.map((name) => `<link rel="modulepreload" href="/studio/-/${name}">\n`).join("");
  const requests = firstRequests(place, search)
    .map((path) => `<link rel="preload" as="fetch" crossorigin href="${escapeHtml(path)}">\n`)
    .join("");
  const pageStyles = files.pageStyles.map((name) => `/studio/-/${name}`);
  const isEarly = place.kind === "page" && place.page.early === true;
  const firstStyles = place.kind === "page" ? pageStyles.slice(0, isEarly ? 1 : 2) : [];
  const styles = [`/studio/-/${files.style}`, ...firstStyles].map((href) => `<link rel="stylesheet" href="${href}">\n`);
  return `<!doctype html>
<html lang="${language}" data-drafts="${draftKey}" data-page-styles="${pageStyles.join(" ")}"${isRehearsal ? " data-rehearsal" : ""}${showsKit ? " data-kit" : ""}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(accountName)}</title>
<link rel="icon" type="image/svg+xml" href="/studio/-/${files.mark}">
${styles.join("")}${preloads}${requests}<script type="module" nonce="${nonce}" src="/studio/-/${files.script}"></script>
</head>
<body>
<noscript>The Studio needs JavaScript. Without it, the API at <a href="/docs">/docs</a> does all that the Studio does.</noscript>
</body>
</html>
`;
}

/** The nonce is for the styles that the code editor makes. `svelte-trusted-html` makes elements of our own templates only. */
export function shellPolicy(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "connect-src 'self'",
    "img-src 'self' data: blob:",
    "font-src 'self'",
    "frame-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types svelte-trusted-html",
    "report-uri /csp-report",
  ].join("; ");
}

/** The pages that plugins bring as modules: each is served at an address that changes with its source. */
export interface Extension extends Omit<StudioPage, "module"> {
  readonly plugin: string;
  /** `<hash>.js` */
  readonly file: string;
  /** Answers with its module. */
  readonly send: (request: Request) => Promise<Response>;
}

/** The runtime has bundled their modules, unless this is a command that serves nothing. */
export function extensionsOf(plugins: readonly PluginFacts[]): Extension[] {
  return plugins.flatMap(({ name, studio = [] }) =>
    studio.flatMap(({ module, ...page }) =>
      typeof module === "string"
        ? [{ ...page, plugin: name, file: `${contentHash(module)}.js`, send: packed(module) }]
        : [],
    ),
  );
}

/** Kept by the browser, and not by what stands between: not everyone may have it. */
function packed(source: string): Extension["send"] {
  const headers = { "cache-control": "private, max-age=31536000, immutable" };
  return createPackedText("text/javascript; charset=utf-8", () => source, headers);
}
