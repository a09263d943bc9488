/** The surroundings of an app's page: its frame, notices, policy, icon and the hosts it may show. behaviour B.10. */
import { escapeHtml, sha256, setting } from "platform";
import type { AppEngine } from "../choices.ts";

interface Framing {
  readonly lang: string;
  /** Where the app itself is. */
  readonly address: string;
  /** The address of frame.js. */
  readonly script: string;
}

/** Our own page around a private app, whose policy keeps the app from leading itself to another host. */
export function framePage(app: NamedApp & Pick<Policed, "public">, { lang, address, script }: Framing): string {
  const name = escapeHtml(app.name);
  return `<!doctype html><html lang="${escapeHtml(lang)}"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${name}</title><link rel="icon" href="${iconOf(app)}"><style>${frameStyle}</style></head>
<body><iframe title="${name}" data-src="${escapeHtml(address)}" sandbox="${sandboxOf(app)}" allow="${allowed}"></iframe>
<script src="${script}"></script></body></html>
`;
}

const frameStyle = "html,body,iframe{display:block;width:100%;height:100%;margin:0;border:0}";
const allowed = "autoplay; clipboard-read; clipboard-write; fullscreen; gamepad; screen-wake-lock";

export const framePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  `style-src '${hashSource(frameStyle)}'`,
  "img-src data:",
  "frame-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "report-uri /csp-report",
].join("; ");

// The pages that say why no app is shown.

export function noticePage(title: string, message: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escapeHtml(title)}</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>${escapeHtml(title)}</h1>
<p>${escapeHtml(message)}</p>
</main>
</body>
</html>
`;
}

const style = `
:root { color-scheme: light dark; --ink: #1b2230; --soft: #566074; --paper: #f3f5f8 }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9f0; --soft: #a3acbd; --paper: #12151b } }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1rem; box-sizing: border-box;
  background: var(--paper); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; text-align: center }
h1 { margin: 0 0 .4rem; font-size: 1.5rem } p { margin: 0; color: var(--soft) }
`;

export const noticePolicy = `default-src 'none'; style-src '${hashSource(style)}'; base-uri 'none'; frame-ancestors 'self'`;

/** In a frame without a session: client/frame.ts loads the address again, or leads to sign-in. */
const asking = `parent.postMessage({type:"core:go",address:location.pathname+location.search+location.hash},location.origin)`;
export const askingPage = `${noticePage("Sign in", "Reload the page to see this app.")}<script>${asking}</script>`;
export const askingPolicy = `${noticePolicy}; script-src '${hashSource(asking)}'`;

// The Content-Security-Policy of an app's page: what it may do in the browser. behaviour B.10, architecture 5.

/**
 * No `allow-same-origin`: the page's origin is opaque, and neither the viewer's session nor another app is in reach. A
 * window that a private app opens could lead to any host.
 */
export function sandboxOf(app: Pick<Policed, "public">): string {
  return `allow-scripts allow-forms ${app.public ? "allow-popups " : ""}allow-modals allow-downloads`;
}

/** No other hosts but the administrator's: an app could send them what it knows about its viewer. */
const shown = {
  "style-src": "'self' 'unsafe-inline'",
  "img-src": "'self' data: blob:",
  "font-src": "'self' data: blob:",
  "media-src": "'self' data: blob:",
};
const common = [
  "default-src 'none'",
  "connect-src 'self' data: blob:",
  // They inherit this policy.
  "worker-src blob:",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'self'",
  "report-uri /csp-report",
];

interface Policed {
  readonly appEngine: AppEngine;
  readonly public: boolean;
  readonly trusted: boolean;
}

/** `scripts`: the inline scripts; "" stands for none. `origins`: of others' pictures, fonts, styles and media. */
export function contentSecurityPolicy(app: Policed, scripts: readonly string[], origins: readonly string[]): string {
  const hashes = scripts.filter((script) => script !== "").map((script) => ` '${hashSource(script)}'`);
  // Browsers ignore 'unsafe-inline' next to a hash.
  const inline = hasInline.has(app.appEngine) ? " 'unsafe-inline'" : hashes.join("");
  const sources = Object.entries(shown).map(([name, own]) => [name, own, ...origins].join(" "));
  return [
    ...common,
    ...sources,
    `script-src 'self'${inline}`,
    ...(app.trusted ? [] : [`sandbox ${sandboxOf(app)}`]),
  ].join("; ");
}

/** Their source is served unchanged and may contain `onclick="…"`. The sandbox protects the viewer either way. */
const hasInline: ReadonlySet<AppEngine> = new Set(["html", "js"]);

export function hashSource(text: string): string {
  return `sha256-${Uint8Array.fromHex(sha256(text)).toBase64()}`;
}

interface NamedApp {
  readonly id: string;
  readonly name: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** The app's icon as a data: address: `fields.icon` if it is a letter or an emoji, else the name's first letter. */
export function iconOf({ id, name, fields }: NamedApp): string {
  const { icon } = fields;
  const given = typeof icon === "string" && icon.length <= 16 ? firstCharacter(icon) : undefined;
  const letter = given ?? firstCharacter(name)?.toUpperCase() ?? "?";
  const svg = `<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'><rect width='32' height='32' rx='8' fill='hsl(${hueOf(id)},60%,40%)'/><text x='16' y='23' style='font:600 19px system-ui' text-anchor='middle' fill='white'>${escapeHtml(letter)}</text></svg>`;
  // Goes into an HTML attribute unescaped.
  return `data:image/svg+xml,${svg.replace(/[^\w \-./:=;,()']/gu, encodeURIComponent)}`;
}

/** Made when it is first needed, because it loads tables of 2 MB. */
let segmenter: Intl.Segmenter | undefined;

/** A lone half of a surrogate pair would break the address. */
function firstCharacter(text: string): string | undefined {
  segmenter ??= new Intl.Segmenter("en", { granularity: "grapheme" });
  for (const { segment } of segmenter.segment(text.trim().slice(0, 32).toWellFormed())) return segment;
  return undefined;
}

function hueOf(id: string): number {
  let sum = 0;
  for (const char of id) sum = (sum * 31 + char.charCodeAt(0)) % 360;
  return sum;
}

// The hosts that an account's apps may show pictures, fonts, styles and media of.

const mostOrigins = 20;

/** Only administrators change it: an app can tell such a host what it knows about its viewer. */
export const accountSettings = {
  origins: setting.adminOnly(
    setting.checked(
      "app_origins",
      "",
      "Origins that apps may show pictures, fonts, styles and media of, separated by commas, e.g. https://cdn.example.com",
      originsIn,
    ),
  ),
};

/** Throws if the text is no list of https origins. */
export function originsIn(text: string): readonly string[] {
  const origins = text
    .split(",")
    .flatMap((part) => part.trim() || [])
    .map(originOf);
  if (origins.length > mostOrigins) throw new Error(`must have at most ${mostOrigins} origins`);
  return [...new Set(origins)];
}

function originOf(text: string): string {
  const url = URL.parse(text);
  // Nothing else may come into a policy.
  if (
    url &&
    /^https:\/\/[a-z0-9.-]+(?::\d+)?$/.test(url.origin) &&
    url.href === `${url.origin}/` &&
    !text.endsWith("/")
  )
    return url.origin;
  throw new Error(`has "${text.slice(0, 50)}", which is no origin like https://cdn.example.com`);
}
