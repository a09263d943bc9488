/** The pages that say why no app is shown. */
import { escapeHtml } from "platform";
import { hashSource } from "./page-policy.ts";

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
