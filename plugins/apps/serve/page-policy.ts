/** The Content-Security-Policy of an app's page: what it may do in the browser. behaviour B.10, architecture 5. */
import { type AppEngine } from "../engines.ts";
import { sha256 } from "platform";

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
