/** `/docs`: the routes as one plain page, without scripts. */
import type { Route } from "../http/route.ts";

export function docsPage(routes: readonly Route[]): string {
  const areas = Map.groupBy(routes, (route) =>
    route.path
      .split("/")
      .slice(1, 3)
      .join("/")
      .replace(/\.\w+$/, ""),
  );
  const sections = [...areas].map(
    ([area, members]) => `<h2 id="${escapeHtml(area)}">/${escapeHtml(area)}</h2>${members.map(section).join("")}`,
  );
  const menu = [...areas.keys()].map((area) => `<a href="#${escapeHtml(area)}">/${escapeHtml(area)}</a>`);
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Corestead API</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><style>${style}</style></head>
<body><main><h1>Corestead API</h1><p>Machine-readable: <a href="/openapi.json">/openapi.json</a></p>${instructions(routes)}
<nav>${menu.join(" ")}</nav>${sections.join("")}</main></body></html>`;
}

function instructions(routes: readonly Route[]): string {
  const path = "/core/prompts/system";
  if (!routes.some((route) => route.path === path)) return "";
  return `<p>Instructions for agents, signed in: <a href="${path}.json">${path}.json</a></p>`;
}

const style = `body{font:16px/1.5 system-ui,sans-serif;margin:0;color:#1d2330;background:#fff}main{max-width:56rem;margin:auto;padding:2rem 1rem}
nav a{margin-right:.8rem}details{border:1px solid #d8dce4;border-radius:6px;margin:.5rem 0;padding:.5rem .8rem}summary{cursor:pointer}
code,pre{font:13px/1.5 ui-monospace,monospace}pre{background:#f4f6f9;padding:.8rem;overflow:auto;border-radius:4px}b{display:inline-block;min-width:4.2rem}
table{border-collapse:collapse}td{padding:.1rem .8rem .1rem 0;vertical-align:top}
@media(prefers-color-scheme:dark){body{background:#14171d;color:#e4e7ee}pre{background:#1e232c}details{border-color:#333a47}a{color:#8ab4ff}}`;

function section({ method, path, spec }: Route): string {
  const access =
    "privilege" in spec.access
      ? `privilege <code>${escapeHtml(spec.access.privilege)}</code>`
      : escapeHtml("signedIn" in spec.access ? `sign-in: ${spec.access.signedIn}` : `open: ${spec.access.open}`);
  const query = Object.entries(spec.query ?? {}).map(
    ([name, doc]) =>
      `<tr><td><code>${escapeHtml(name)}</code></td><td>${escapeHtml(typeof doc === "string" ? doc : (doc.description ?? ""))}</td></tr>`,
  );
  const sent = spec.body?.key && spec.request !== undefined ? { [spec.body.key]: spec.request } : spec.request;
  const answers = Object.entries(spec.responses).map(([status, example]) => `<p>${status}</p>${printed(example)}`);
  return `<details><summary><b>${method}</b> <code>${escapeHtml(path)}</code> ${escapeHtml(spec.summary)}</summary>
<p>Access: ${access}</p>${spec.description ? `<p>${escapeHtml(spec.description)}</p>` : ""}${query.length > 0 ? `<table>${query.join("")}</table>` : ""}${sent === undefined ? "" : `<p>Body</p>${printed(sent)}`}${answers.join("")}</details>`;
}

function printed(example: unknown): string {
  if (example === null) return "";
  const shown = typeof example === "string" ? example : JSON.stringify(example, null, 2);
  return `<pre>${escapeHtml(shown)}</pre>`;
}

/** Escapes text for HTML, attributes included. */
export function escapeHtml(text: string): string {
  if (!/[&<>"']/.test(text)) return text; // most texts need no escaping, and five searches cost more than one
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
}
