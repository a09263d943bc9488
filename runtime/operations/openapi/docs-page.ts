/**
 * `/docs`: the OpenAPI document as one page. It can be read without scripts; its script adds the search, "Copy" and "Try
 * it" (docs-script.ts).
 */
import { createHash } from "node:crypto";
import { escapeHtml } from "../../base/text.ts";
import type { Language } from "../../http/language.ts";
import { answerHtml, operationHtml, type Frame, type Operation } from "./docs-operation.ts";
import { docsScript } from "./docs-script.ts";
import docsStyle from "./docs.css" with { type: "text" };
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
