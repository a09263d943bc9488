/** Style sheets: refuses what an app's own CSS may not load, and runs Tailwind 4. */
import preflight from "tailwindcss/preflight.css" with { type: "text" };
import theme from "tailwindcss/theme.css" with { type: "text" };
import utilities from "tailwindcss/utilities.css" with { type: "text" };
import { transform } from "esbuild";
import { compile } from "tailwindcss";
import { isFailure } from "./module.ts";
import { mistakeAt, Mistakes, type Task } from "./task.ts";

/** The style sheet of an app: its own CSS (`own`) plus what its CSS engine adds. */
export async function compileStyle({ source, cssEngine }: Task, written: string): Promise<string> {
  const own = cssEngine === "none" ? written : withoutTailwind(written);
  refuseReferences(own, source);
  const usesTailwind = /@(apply|theme|utility|variant|custom-variant|slot)\b|--(theme|spacing|alpha)\(|\btheme\(/.test(
    own,
  );
  if (cssEngine === "tailwind") return printed(await tailwind("full", own, source));
  // Tailwind in the browser sees only classes, so style blocks are compiled here.
  if (cssEngine === "tailwind_all" && usesTailwind) return printed(await tailwind("own", own, source));
  return own === "" ? "" : printed(own);
}

/** Tailwind is there already: what tells other tools so is left out. */
function withoutTailwind(css: string): string {
  return css.replace(/@(?:reference|import)\s*(?:"tailwindcss"|'tailwindcss')\s*;/g, "");
}

const layers = "@layer theme, base, components, utilities;\n";
const sheets: Readonly<Record<"full" | "own", string>> = {
  full: `${layers}@layer theme {\n${theme}\n}\n@layer base {\n${preflight}\n}\n@layer utilities {\n${utilities}\n}\n`,
  own: `${layers}@layer theme {\n${theme}\n}\n`,
};

async function tailwind(kind: keyof typeof sheets, own: string, source: string): Promise<string> {
  const nothing = (what: string) => async (): Promise<never> => {
    throw new Error(`${what} cannot be loaded`);
  };
  try {
    // A new compiler for every app, because it remembers the classes that it has seen.
    const compiler = await compile(sheets[kind] + own, {
      loadModule: nothing("a plugin"),
      loadStylesheet: nothing("a style sheet"),
    });
    return compiler.build(kind === "full" ? candidatesOf(source) : []);
  } catch (error) {
    if (!(error instanceof Error) || error instanceof RangeError) throw error;
    throw new Mistakes([mistakeAt(source, placeOf(error.message, source), error.message)]);
  }
}

/** Tailwind does not say where an error is, so we search the style blocks for what it quotes. */
function placeOf(message: string, source: string): number {
  const start = Math.max(0, source.search(/<style\b/i));
  for (const [, quoted = ""] of message.matchAll(/[`"']([^`"']+)[`"']/g)) {
    const at = source.indexOf(quoted, start);
    if (at >= 0) return at;
  }
  return start;
}

/** At-rules that refer to something outside the app. */
const references = new Set(["import", "plugin", "config", "source", "reference", "tailwind", "namespace", "charset"]);

function refuseReferences(css: string, source: string): void {
  const found: string[] = [];
  const places = new Map<string, number>();
  for (const { raw, name } of atRules(css)) {
    const from = places.get(raw) ?? Math.max(0, source.search(/<style\b/i));
    const at = source.indexOf(raw, from);
    places.set(raw, at + raw.length);
    if (references.has(name)) found.push(mistakeAt(source, at, `@${name} is not allowed in an app's style`));
  }
  if (found.length > 0) throw new Mistakes(found);
}

/** The at-rules of a style sheet, with their escapes undone: `@\69 mport` is an @import to a browser. */
function* atRules(css: string): Generator<{ raw: string; name: string }> {
  const token =
    /\/\*[\s\S]*?(?:\*\/|$)|"(?:[^"\\\n]|\\[\s\S])*"?|'(?:[^'\\\n]|\\[\s\S])*'?|@((?:[\w-]|[^\0-\x7f]|\\[\da-f]{1,6}\s?|\\[^\n])+)|\\[\s\S]/gi;
  for (const [raw, word] of css.matchAll(token)) {
    if (word !== undefined) yield { raw, name: unescaped(word).toLowerCase() };
  }
}

function unescaped(word: string): string {
  return word.replace(
    /\\(?:([\da-f]{1,6})\s?|([^\n]))/gi,
    (_all, hex: string | undefined, plain: string | undefined) => {
      const code = hex === undefined ? undefined : Number.parseInt(hex, 16);
      if (code === undefined) return plain ?? "";
      return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : "\ufffd";
    },
  );
}

/** Removes white space and comments. Does not compile for older browsers: flattened nesting grows without bound. */
async function printed(css: string): Promise<string> {
  try {
    const { code } = await transform(css, {
      loader: "css",
      minifyWhitespace: true,
      target: "esnext",
      charset: "utf8",
      logLevel: "silent",
      legalComments: "none",
    });
    return code;
  } catch (error) {
    if (!isFailure(error)) throw error;
    throw new Mistakes(error.errors.map(({ text }) => mistakeAt("", 0, text)));
  }
}

// Finds words in a source that may be Tailwind classes, whatever language the source is in.

const maxCandidates = 50_000;
const maxLength = 300;

const [space, backslash, doubleQuote, singleQuote] = [0x20, 0x5c, 0x22, 0x27];
const white = " \t\n\r\f\v\u00a0";
/** Characters that end a word, except inside its groups. */
const ends = tableOf(`${white}"'\`<>{}()]=;,|?\\$`);
/** A word begins after one of these, even inside another word's group: `['p-4']` may be a group or an array. */
const begins = tableOf(`${white}"'\`<>{}()[]=;,|?\\$`);

/**
 * Extra candidates only cost time: Tailwind is asked once for each, and a word that is not a class produces nothing.
 */
export function candidatesOf(source: string): string[] {
  const found = new Set<string>();
  for (let at = 0; at < source.length && found.size < maxCandidates; at++) {
    if (at > 0 && begins[source.charCodeAt(at - 1)] !== 1) continue;
    const end = wordEnd(source, at);
    if (end > at && end - at <= maxLength) add(found, source.slice(at, end));
  }
  return [...found];
}

/** `bg-[url('x')]`, `w-(--size)`, `[&>p]:mt-0`: a group belongs to its word, whatever it contains. */
function wordEnd(source: string, start: number): number {
  let at = start;
  for (; at < source.length && at - start <= maxLength; at++) {
    const character = source[at];
    if (character === "[" || (character === "(" && at > start && source[at - 1] === "-")) {
      const last = groupEnd(source, at, character);
      if (last === 0) break;
      at = last;
    } else if (ends[source.charCodeAt(at)] === 1) break;
  }
  return at;
}

/** The end of the group that opens at `start`; 0 if it contains a space and so is not a group. */
function groupEnd(source: string, start: number, opener: "[" | "("): number {
  const open = opener.charCodeAt(0);
  const close = (opener === "[" ? "]" : ")").charCodeAt(0);
  const most = Math.min(source.length, start + maxLength);
  let depth = 0;
  /** The quote of the string that this place is in; 0 = not in a string. */
  let quote = 0;
  for (let at = start; at < most; at++) {
    const code = source.charCodeAt(at);
    if (code <= space) return 0;
    if (code === backslash) at++;
    else if (quote !== 0) quote = code === quote ? 0 : quote;
    else if (code === doubleQuote || code === singleQuote) quote = code;
    else if (code === open) depth++;
    else if (code === close && --depth === 0) return at;
  }
  return 0;
}

function add(found: Set<string>, word: string): void {
  if (!/[a-z]/i.test(word)) return;
  // `class:font-bold={on}` of Svelte.
  const plain = word.startsWith("class:") ? word.slice("class:".length) : word;
  found.add(plain);
  // A key of an object: `{ flex: on }`, `{flex:on}`.
  const colon = plain.indexOf(":");
  if (colon > 0) found.add(plain.slice(0, colon));
}

function tableOf(characters: string): Uint8Array {
  const table = new Uint8Array(256);
  for (const character of characters) table[character.charCodeAt(0)] = 1;
  return table;
}
