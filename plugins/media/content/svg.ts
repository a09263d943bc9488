/**
 * Makes an SVG harmless: it is read by a strict XML parser, and only elements, attributes and styles that draw are
 * written again. So whatever is not known here (scripts, handlers, foreign content, addresses) is gone. The entities
 * that a document declares itself, as Illustrator's do, are put in their places first, within bounds.
 */
import type { SaxesTagNS } from "saxes";
import { invalid } from "platform";
import { harmlessCss, isHarmlessValue } from "./css.ts";

/** A drawing has less; a larger one would keep the process busy. */
export const maxSvgBytes = 2_000_000;

interface SvgResult {
  readonly svg: string;
  /** Removed parts of the drawing, in words. */
  readonly lost: readonly string[];
}

const elements = new Set(
  `svg g defs symbol use title desc path rect circle ellipse line polyline polygon text tspan textPath image
  linearGradient radialGradient stop pattern clipPath mask marker switch style filter feBlend feColorMatrix
  feComponentTransfer feComposite feConvolveMatrix feDiffuseLighting feDisplacementMap feDistantLight feDropShadow
  feFlood feFuncA feFuncB feFuncG feFuncR feGaussianBlur feMerge feMergeNode feMorphology feOffset fePointLight
  feSpecularLighting feSpotLight feTile feTurbulence animate animateTransform animateMotion mpath set view`.split(/\s/),
);
/** Draws nothing, so nobody misses it. */
const silent = new Set(["metadata"]);
/** Attributes that are never written, though they draw nothing wrong by themselves. */
const refused = /^(?:on|xmlns$|base$)/i;
const attributeName = /^[A-Za-z][A-Za-z0-9_.-]{0,60}$/;
/** Attributes that no browser reads as an address or a style. */
const words = /^(?:id|class|lang|role|title|space|tabindex|name|aria-.*|data-.*)$/i;
const pictureData = /^data:image\/(?:png|jpeg|gif|webp);base64,/;
const [svgNamespace, xlinkNamespace, xmlNamespace] = [
  "http://www.w3.org/2000/svg",
  "http://www.w3.org/1999/xlink",
  "http://www.w3.org/XML/1998/namespace",
];

/** Throws the 422 if it is no SVG. */
export async function harmlessSvg(text: string): Promise<SvgResult> {
  const { SaxesParser } = await import("saxes");
  const parser = new SaxesParser({ xmlns: true, position: false });
  const out: string[] = [];
  const lost = new Set<string>();
  /** How many open elements, from the first refused one on, are left out. */
  let skipped = 0;
  let style: { readonly start: string; css: string } | undefined;
  let fault = "";
  const write = (piece: string) => {
    if (skipped > 0 || out.length === 0) return;
    if (style) style.css += piece;
    else out.push(escaped(piece));
  };
  parser.on("error", (error) => {
    fault ||= error.message;
  });
  parser.on("opentag", (tag) => {
    const { local, uri } = tag;
    if (skipped > 0) skipped++;
    else if (isLink(tag)) lost.add("the links of <a>");
    else if (uri !== svgNamespace || !elements.has(local) || style) {
      skipped = 1;
      if (uri === svgNamespace && !silent.has(local)) lost.add(`<${local}>`);
    } else {
      const start = `<${local}${out.length === 0 ? ` xmlns="${svgNamespace}"` : ""}${attributesOf(tag, lost)}>`;
      if (local === "style") style = { start, css: "" };
      else out.push(start);
    }
  });
  parser.on("text", write);
  parser.on("cdata", write);
  parser.on("closetag", (tag) => {
    if (skipped > 0) skipped--;
    else if (isLink(tag)) return;
    else if (style) {
      const { css, gone } = harmlessCss(style.css);
      for (const rule of gone) lost.add(`the style ${shortened(rule)}`);
      if (css !== "") out.push(`${style.start}${escaped(css)}</style>`);
      style = undefined;
    } else out.push(`</${tag.local}>`);
  });
  parser.write(withoutDoctype(text, maxSvgBytes)).close();
  if (!out[0]?.startsWith("<svg")) fault ||= "there is no element `svg`";
  if (fault !== "") throw invalid({ file: [`is no SVG that can be read: ${fault}`.slice(0, 300)] });
  return { svg: out.join("").trim(), lost: [...lost] };
}

/** What it holds is drawn without it. */
const isLink = ({ local, uri }: Pick<SaxesTagNS, "local" | "uri">) => uri === svgNamespace && local === "a";

function attributesOf({ local: element, attributes }: SaxesTagNS, lost: Set<string>): string {
  const written = new Map<string, string>();
  for (const { local, uri, value } of Object.values(attributes)) {
    const isOfXml = uri === xmlNamespace;
    if ((uri !== "" && uri !== xlinkNamespace && !isOfXml) || local === "xmlns") continue;
    const kept = keptValue(element, local, value, lost);
    const name = isOfXml ? `xml:${local}` : local;
    if (kept === undefined) lost.add(`the attribute ${shortened(local)}`);
    // `href` wins over `xlink:href`, as in browsers. Of a style nothing may be left.
    else if ((kept !== "" || value === "") && (uri !== xlinkNamespace || !written.has(name))) written.set(name, kept);
  }
  return [...written].map(([name, value]) => ` ${name}="${escaped(value)}"`).join("");
}

/** The value as it is written, or undefined. */
function keptValue(element: string, name: string, value: string, lost: Set<string>): string | undefined {
  if (refused.test(name) || !attributeName.test(name)) return undefined;
  if (name === "href") return isHarmlessReference(element, value.trim()) ? value.trim() : undefined;
  // An animation may set the address of what it animates.
  if (name === "attributeName" && /href|^on/i.test(value)) return undefined;
  if (words.test(name)) return value;
  if (name !== "style") return isHarmlessValue(value) ? value : undefined;
  const { css, gone } = harmlessCss(value);
  for (const rule of gone) lost.add(`the style ${shortened(rule)}`);
  return css;
}

/** Within the drawing, or a picture that is in it. */
function isHarmlessReference(element: string, value: string): boolean {
  return value.startsWith("#") || (element === "image" && pictureData.test(value) && isBase64(value));
}

function isBase64(value: string): boolean {
  try {
    atob(value.slice(value.indexOf(",") + 1));
    return true;
  } catch {
    return false;
  }
}

const shortened = (text: string) => (text.length > 60 ? `${text.slice(0, 60)}...` : text).replaceAll(/\s+/g, " ");

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}

const maxEntities = 200;
/** How deep entities may hold entities. */
const maxRounds = 4;

/** The text without its document type. Throws the 422 if the entities make it larger than `maxChars`. */
function withoutDoctype(text: string, maxChars: number): string {
  const start = text.search(/<!DOCTYPE/i);
  // Behind the first element, it would be a fault that the parser finds.
  const first = text.search(/<[A-Za-z]/);
  if (start < 0 || (first >= 0 && first < start)) return text;
  const end = endOf(text, start);
  const entities = entitiesIn(text.slice(start, end));
  let rest = text.slice(0, start) + text.slice(end);
  for (let round = 0; round < maxRounds && entities.size > 0; round++) {
    let room = maxChars - rest.length;
    const next = rest.replaceAll(/&([A-Za-z_][\w.-]{0,60});/g, (whole, name: string) => {
      const value = entities.get(name);
      if (value === undefined || room < 0) return whole;
      room -= value.length;
      return value;
    });
    if (room < 0) throw invalid({ file: [`is no SVG that can be read: its entities make it larger than ${maxChars}`] });
    if (next === rest) break;
    rest = next;
  }
  return rest;
}

/** Behind its `>`; quoted text and the part in brackets may hold others. */
function endOf(text: string, start: number): number {
  let isInside = false;
  for (let at = start; at < text.length; at++) {
    const sign = text[at] ?? "";
    if (sign === '"' || sign === "'") {
      const close = text.indexOf(sign, at + 1);
      if (close < 0) break;
      at = close;
    } else if (sign === "[") isInside = true;
    else if (sign === "]") isInside = false;
    else if (sign === ">" && !isInside) return at + 1;
  }
  return text.length;
}

/** Those with a value of their own; what others declare elsewhere is never read. */
function entitiesIn(doctype: string): Map<string, string> {
  const entities = new Map<string, string>();
  const declared = /<!ENTITY\s{1,20}([A-Za-z_][\w.-]{0,60})\s{1,20}(?:"([^"]{0,2000})"|'([^']{0,2000})')\s{0,20}>/g;
  for (const [, name = "", double, single] of doctype.matchAll(declared)) {
    if (entities.size >= maxEntities) break;
    // The first declaration counts.
    if (!entities.has(name)) entities.set(name, double ?? single ?? "");
  }
  return entities;
}
