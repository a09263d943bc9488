/**
 * Leaves out of a style what could load or run something, and writes the rest again: rules, at-rules, nested rules and
 * declarations. What it writes has no escapes and is balanced, so a browser reads the same rules.
 */
export interface CssResult {
  readonly css: string;
  /** Removed parts, as they were written. */
  readonly gone: readonly string[];
}

const groups = /^@(?:media|supports|container|layer|scope|(?:-webkit-)?keyframes)\b/i;
const descriptors = /^@(?:font-face|property|counter-style|font-feature-values|page)\b/i;
const maxDepth = 10;

/** `css`: a stylesheet, or the declarations of an attribute. */
export function harmlessCss(css: string): CssResult {
  const gone: string[] = [];
  return { css: kept(withoutComments(css), gone, maxDepth).replace(/;$/, ""), gone };
}

function kept(css: string, gone: string[], depth: number): string {
  let out = "";
  for (const { head, body } of itemsOf(css)) {
    // What is written is UTF-8.
    if (body === undefined && (head === "" || /^@charset\b/i.test(head))) continue;
    const text = body === undefined ? harmless(head) : isHarmlessHead(head) && depth > 0 && head;
    if (text === false) gone.push(body === undefined ? head : `${head}{`);
    else if (body === undefined) out += `${text};`;
    else out += `${text}{${kept(body, gone, depth - 1).replace(/;$/, "")}}`;
  }
  return out;
}

function harmless(declaration: string): string | false {
  if (/^@layer\b/i.test(declaration) && isHarmlessHead(declaration)) return declaration;
  const colon = declaration.indexOf(":");
  const name = declaration.slice(0, Math.max(0, colon)).trim();
  const isKnown = /^-{0,2}[a-z_][\w-]*$/i.test(name) && !/^(?:behaviou?r|-moz-binding)$/i.test(name);
  return isKnown && isHarmlessValue(declaration.slice(colon + 1)) && declaration;
}

/** A selector, or an at-rule of a known kind: neither loads anything. */
function isHarmlessHead(head: string): boolean {
  if (head.includes("\\") || !isBalanced(head)) return false;
  return !head.startsWith("@") || groups.test(head) || descriptors.test(head);
}

interface Item {
  /** Of a declaration: all of it. */
  readonly head: string;
  readonly body?: string;
}

const closing: Readonly<Record<string, string>> = { "(": ")", "[": "]", "{": "}" };

/** The declarations and rules of a block; what has no end is one item that is not balanced. */
function* itemsOf(css: string): Generator<Item> {
  let start = 0;
  let open = -1;
  const ends: string[] = [];
  for (let at = 0; at < css.length; at++) {
    const sign = css[at] ?? "";
    if (sign === '"' || sign === "'") {
      const end = css.indexOf(sign, at + 1);
      at = end < 0 ? css.length : end;
    } else if (sign === ends.at(-1)) {
      ends.pop();
      if (sign !== "}" || ends.length > 0) continue;
      yield { head: css.slice(start, open).trim(), body: css.slice(open + 1, at) };
      start = at + 1;
    } else if (closing[sign] !== undefined) {
      if (sign === "{" && ends.length === 0) open = at;
      ends.push(closing[sign]);
    } else if (sign === ";" && ends.length === 0) {
      yield { head: css.slice(start, at).trim() };
      start = at + 1;
    }
  }
  yield { head: css.slice(start).trim() };
}

function isBalanced(text: string): boolean {
  const ends: string[] = [];
  for (const [sign] of withoutStrings(text).matchAll(/["'()[\]{}]/g)) {
    if (closing[sign] !== undefined) ends.push(closing[sign]);
    else if (sign !== ends.pop()) return false;
  }
  return ends.length === 0;
}

function withoutComments(css: string): string {
  return css.replaceAll(/("[^"]*"|'[^']*')|\/\*(?:[^*]|\*(?!\/))*(?:\*\/|$)/g, (_, string?: string) => string ?? " ");
}

/** A string with a line break ends there for a browser. */
const withoutStrings = (text: string) => text.replaceAll(/"[^"\n\r\f]*"|'[^'\n\r\f]*'/g, "");

const pictureData = /^data:image\/(?:png|jpeg|gif|webp|avif);base64,[A-Za-z0-9+/=\s]*$/;
const fontData =
  /^data:(?:font\/[\w-]+|application\/(?:x-)?font-[\w-]+|application\/vnd\.ms-fontobject|application\/octet-stream);(?:charset=[\w-]+;)?base64,[A-Za-z0-9+/=\s]*$/;

/** `url(…)` with what is in it, in quotes or not. */
const addresses = /\burl\(\s*(?:"([^"\\]*)"|'([^'\\]*)'|([^\s"'()\\]+))\s*\)/gi;

/** Parts of the drawing, and pictures and fonts that are in it. */
function isWithin(address: string): boolean {
  return address.startsWith("#") || pictureData.test(address) || fontData.test(address);
}

const functions = new Set(
  `var env attr calc min max clamp round mod rem sin cos tan asin acos atan atan2 pow sqrt hypot log exp abs sign
  rgb rgba hsl hsla hwb lab lch oklab oklch color color-mix device-cmyk light-dark icc-color
  linear-gradient radial-gradient conic-gradient repeating-linear-gradient repeating-radial-gradient
  repeating-conic-gradient matrix matrix3d translate translatex translatey translatez translate3d rotate rotatex rotatey
  rotatez rotate3d scale scalex scaley scalez scale3d skew skewx skewy perspective blur brightness contrast drop-shadow
  grayscale hue-rotate invert opacity saturate sepia circle ellipse inset polygon path rect xywh shape ray
  cubic-bezier steps linear counter counters format local tech fit-content minmax repeat stylistic styleset swash ornaments
  annotation character-variant`.split(/\s+/),
);

/** No escapes, no address elsewhere, and no function that is not known to draw. */
export function isHarmlessValue(value: string): boolean {
  if (/[\\@]|javascript:/i.test(value)) return false;
  let isFine = true;
  const rest = value.replaceAll(addresses, (_, double?: string, single?: string, bare?: string) => {
    isFine &&= isWithin(double ?? single ?? bare ?? "");
    return " ";
  });
  const plain = withoutStrings(rest);
  if (!isFine || !isBalanced(plain) || /["'{}]/.test(plain)) return false;
  return plain
    .split("(")
    .slice(0, -1)
    .every((before) => isKnownFunction(before.slice(-60)));
}

/** What stands right before a bracket: a name, or nothing, as in `calc(2 * (1 - x))`. */
function isKnownFunction(before: string): boolean {
  const name = before.split(/[\s(),:;/*+]/).at(-1) ?? "";
  return name === "" || name === "-" || functions.has(name.toLowerCase());
}
