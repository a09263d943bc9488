/**
 * `/docs`: the OpenAPI document as one page. It can be read without scripts; its script adds the search, "Copy" and "Try
 * it" (docs-script.ts).
 */
import { createHash } from "node:crypto";
import { escapeHtml } from "../../base/text.ts";
import type { Language } from "../../http/language.ts";
import { answerHtml, operationHtml, type Frame, type Operation } from "./docs-operation.ts";
import { docsScript } from "./docs-script.ts";
import { inside, schemaHtml, type Json } from "./docs-tables.ts";
import { docsWords, type DocsWords } from "./docs-words.ts";
import { isObject } from "../../base/values.ts";

interface Document {
  readonly paths: Json;
  readonly components: Json;
}

/** `server` is the address in the examples. */
export function docsPage({ paths, components }: Document, server: string, language: Language): string {
  const words = docsWords[language];
  const frame = { components, server, words };
  const operations = operationsOf(paths);
  const areas = Map.groupBy(operations, ({ path }) => areaOf(path));
  const sections = [...areas].map(
    ([area, members]) =>
      `<section><h2 id="${escapeHtml(area)}">${escapeHtml(area)}</h2>${members.map((one) => operationHtml(one, frame)).join("\n")}</section>`,
  );
  const menu = [
    ...[...areas.keys()].map((area) => ({ id: area, name: area })),
    { id: "Types", name: words.types },
    { id: "Usual-answers", name: words.usualAnswers },
  ];
  return `<!doctype html><html lang="${language}"><head><meta charset="utf-8"><title>${words.title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><style>${docsStyle}</style></head>
<body><a class="skip" href="#operations">${words.skip}</a>
<header><h1>${words.title}</h1>${linksHtml(paths, words)}${toolsHtml(words)}</header>
<nav aria-label="${words.areas}"><ul>${menu.map(menuHtml).join("")}</ul></nav>
<main id="operations">${sections.join("\n")}${typesHtml(frame)}${usualHtml(frame)}</main>
<script>${docsScript(words)}</script></body></html>`;
}

const methods = ["get", "post", "patch", "put", "delete"];

function operationsOf(paths: Json): Operation[] {
  return Object.entries(paths).flatMap(([path, members]) =>
    methods.flatMap((method) => {
      const told = isObject(members) ? members[method] : undefined;
      return isObject(told) ? [{ method: method.toUpperCase(), path, told }] : [];
    }),
  );
}

/** `/core/prompts/{id}.json` -> `/core/prompts` */
function areaOf(path: string): string {
  const parts = path.split("/").slice(1, 3);
  return `/${parts
    .filter((part) => !part.startsWith("{"))
    .join("/")
    .replace(/\.\w+$/, "")}`;
}

function menuHtml({ id, name }: { readonly id: string; readonly name: string }): string {
  return `<li><a href="#${escapeHtml(id)}">${escapeHtml(name)}</a></li>`;
}

function linksHtml(paths: Json, words: DocsWords): string {
  const links = [
    ["/studio.json", "/studio", words.studio],
    ["/core/prompts/system.json", "/core/prompts/system.json", words.forAgents],
    ["/llms.txt", "/llms.txt", "llms.txt"],
    ["/openapi.json", "/openapi.json", "OpenAPI 3.1"],
    ["/client.ts", "/client.ts", words.client],
  ];
  const shown = links.flatMap(([path = "", href = "", name = ""]) =>
    Object.hasOwn(paths, path) ? [`<a href="${href}">${name}</a>`] : [],
  );
  return `<p>${shown.join(" ")}</p>`;
}

/** Shown by the script, as nothing here works without it. */
const toolsHtml = (
  words: DocsWords,
) => `<form class="tools" role="search" hidden><label><span>${words.search}</span><input type="search" id="search" autocomplete="off" spellcheck="false"></label>
<label><span>${words.token}</span><input type="password" id="token" autocomplete="off" spellcheck="false"></label><output class="note" for="search"></output></form>`;

function typesHtml({ components, words }: Frame): string {
  const types = Object.entries(inside(components, "schemas")).map(([name, schema]) => {
    const id = `type-${escapeHtml(name)}`;
    return `<details id="${id}"><summary><code>${escapeHtml(name)}</code></summary>${isObject(schema) ? schemaHtml(schema, words) : ""}</details>`;
  });
  return `<section><h2 id="Types">${words.types}</h2>${types.join("\n")}</section>`;
}

function usualHtml({ components, words }: Frame): string {
  const answers = Object.entries(inside(components, "responses")).map(
    ([status, response]) =>
      `<details id="answer-${escapeHtml(status)}"><summary>${escapeHtml(status)}</summary>${isObject(response) ? answerHtml(status, response, words) : ""}</details>`,
  );
  return `<section><h2 id="Usual-answers">${words.usualAnswers}</h2>${answers.join("\n")}</section>`;
}

/** The one script and the one style of the page run, and no other. */
export function docsPolicy(language: Language): string {
  return [
    "default-src 'none'",
    `script-src 'sha256-${hashOf(docsScript(docsWords[language]))}'`,
    `style-src 'sha256-${hashOf(docsStyle)}'`,
    "connect-src 'self'",
    "img-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
    "report-uri /csp-report",
  ].join("; ");
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("base64");
}

/** The style of `/docs`: light and dark, from 360 px. */
export const docsStyle = `:root{color-scheme:light dark;--text:#1d2330;--faint:#555e6e;--page:#fff;--box:#f4f6f9;--line:#d3d8e1;--link:#1a56c4;--bad:#b3261e}
@media(prefers-color-scheme:dark){:root{--text:#e4e7ee;--faint:#a9b2c2;--page:#14171d;--box:#1e232c;--line:#39414f;--link:#8ab4ff;--bad:#ff8a80}}
*{box-sizing:border-box}body{font:16px/1.5 system-ui,sans-serif;margin:0;color:var(--text);background:var(--page);overflow-wrap:anywhere}
a{color:var(--link)}header,main,nav{max-width:60rem;margin:auto;padding:0 1rem}h1{margin:1.5rem 0 0}h2{margin:2rem 0 .5rem;font-size:1.2rem}h3{margin:1rem 0 .3rem;font-size:1rem}
.skip:not(:focus){position:absolute;left:-99rem}header p{margin:.4rem 0}header p a{margin-right:1rem}
.tools{display:flex;flex-wrap:wrap;gap:.5rem 1rem;align-items:end;padding:.7rem 0;border-bottom:1px solid var(--line)}
[hidden]{display:none!important}.tools label{flex:1 1 14rem;min-width:0}label span,.note{display:block;font-size:.85rem;color:var(--faint)}
input,textarea,button{font:inherit;color:inherit;background:var(--page);border:1px solid var(--faint);border-radius:5px;padding:.35rem .6rem;max-width:100%}
input,textarea{width:100%}textarea{font:13px/1.5 ui-monospace,monospace;min-height:9rem}button{cursor:pointer;background:var(--box)}:focus-visible{outline:2px solid var(--link);outline-offset:2px}
nav ul{columns:14rem;padding:0;margin:.6rem 0;list-style:none}main>section{scroll-margin-top:6rem}
details{border:1px solid var(--line);border-radius:6px;margin:.4rem 0;padding:.45rem .8rem;scroll-margin-top:6rem}summary{cursor:pointer}summary b{display:inline-block;min-width:4.2rem}
code,pre{font:13px/1.5 ui-monospace,monospace}pre{background:var(--box);padding:.7rem;overflow:auto;border-radius:4px;margin:.3rem 0;max-height:28rem;white-space:pre-wrap}
.scroll{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:.93rem}th,td{text-align:left;vertical-align:top;padding:.25rem .8rem .25rem 0;border-bottom:1px solid var(--line)}th{color:var(--faint);font-weight:600;overflow-wrap:normal}
td:first-child{min-width:8rem}td:nth-child(2){min-width:6rem}.bad{color:var(--bad);font-weight:600}.try{border-top:1px solid var(--line);margin-top:1rem;padding-top:.3rem}.try label{display:block;margin:.4rem 0}.row{display:flex;gap:.6rem;align-items:center;flex-wrap:wrap;margin:.5rem 0}`;
