/** Our own page around a private app, whose policy keeps the app from leading itself to another host. behaviour B.10. */
import { escapeHtml } from "platform";
import { iconOf } from "./page-icon.ts";
import { hashSource, sandboxOf } from "./page-policy.ts";
import type { PageApp } from "./page.ts";

interface Framing {
  readonly lang: string;
  /** Where the app itself is. */
  readonly address: string;
  /** The address of frame.js. */
  readonly script: string;
}

export function framePage(app: PageApp, { lang, address, script }: Framing): string {
  const name = escapeHtml(app.name);
  return `<!doctype html><html lang="${escapeHtml(lang)}"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${name}</title><link rel="icon" href="${iconOf(app)}"><style>${style}</style></head>
<body><iframe title="${name}" data-src="${escapeHtml(address)}" sandbox="${sandboxOf(app)}" allow="${allowed}"></iframe>
<script src="${script}"></script></body></html>
`;
}

const style = "html,body,iframe{display:block;width:100%;height:100%;margin:0;border:0}";
const allowed = "autoplay; clipboard-read; clipboard-write; fullscreen; gamepad; screen-wake-lock";

export const framePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  `style-src '${hashSource(style)}'`,
  "img-src data:",
  "frame-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "report-uri /csp-report",
].join("; ");
