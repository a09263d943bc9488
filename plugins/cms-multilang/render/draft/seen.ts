/**
 * What a search engine reads in the head of a page, which is parsed as browsers do. Pure, and linear in the length of
 * the page.
 */
import { escapeHtml } from "platform";

interface Seen {
  readonly title: string | null;
  readonly description: string | null;
  readonly canonical_url: string | null;
  readonly alternates: readonly { readonly locale: string; readonly url: string }[];
  readonly robots: string | null;
  /** The `lang` of the html element. */
  readonly lang: string | null;
}

const maxChars = 2000;
const maxAlternates = 100;
/** Metas of different names: no page has so many. */
const maxNotes = 200;

/**
 * What the page says of itself, and the page with its links leading out of the frame that shows it: in there they would
 * lead to addresses of the account. Only the first title, description and canonical address count.
 */
export function seenIn(html: string): { readonly seen: Seen; readonly framed: string } {
  const first = new Map<string, string>();
  const alternates: { locale: string; url: string }[] = [];
  let head: number | undefined;
  for (const { name, attributes, end, text } of headTags(html)) {
    const value = (of: string) => attributes.get(of);
    const note = (as: string, found: string | undefined) => {
      if (found !== undefined && !first.has(as)) first.set(as, decoded(found.slice(0, maxChars)).trim());
    };
    const [rel, href, hreflang] = [value("rel")?.toLowerCase(), value("href"), value("hreflang")];
    if (name === "head") head ??= end;
    if (name === "html") note("lang", value("lang"));
    if (name === "title") note("title", text);
    if (name === "meta") note(`meta ${value("name")?.toLowerCase() ?? ""}`, value("content"));
    if (name === "link" && rel === "canonical") note("canonical", href);
    if (name === "link" && rel === "alternate" && href && hreflang && alternates.length < maxAlternates)
      alternates.push({ locale: decoded(hreflang.slice(0, 100)), url: decoded(href.slice(0, maxChars)) });
    if (first.size > maxNotes) break;
  }
  const seen = {
    title: oneLine(first.get("title") ?? "") || null,
    description: first.get("meta description") ?? null,
    canonical_url: first.get("canonical") ?? null,
    alternates,
    robots: first.get("meta robots") ?? null,
    lang: first.get("lang") ?? null,
  };
  const base = '<base target="_blank">';
  return { seen, framed: head === undefined ? html : html.slice(0, head) + base + html.slice(head) };
}

/** A page that is no HTML (`feed.xml`), shown as text. */
export function asText(text: string): string {
  return `<!doctype html>\n<meta charset="utf-8"><pre>${escapeHtml(text)}</pre>\n`;
}

export const nothingSeen: Seen = {
  title: null,
  description: null,
  canonical_url: null,
  alternates: [],
  robots: null,
  lang: null,
};

const named: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0" };

/** The character references that pages have in their heads. */
function decoded(text: string): string {
  return text.replaceAll(/&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|([a-z]{2,4}));/g, (whole, decimal, hex, name) => {
    if (name !== undefined) return (Object.hasOwn(named, name) ? named[name] : undefined) ?? whole;
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}

function oneLine(text: string): string {
  return text.split(/\s/).filter(Boolean).join(" ");
}

interface Tag {
  /** In lower case. */
  readonly name: string;
  /** The first of each name counts. */
  readonly attributes: ReadonlyMap<string, string>;
  /** Where it ends, behind its `>`. */
  readonly end: number;
  /** What stands in a title. */
  readonly text: string;
}

/** What stands in these is text, whatever it looks like. */
const raw = new Set(["script", "style", "title", "textarea", "noscript", "template"]);
const blanks = " \t\n\f\r";
const maxAttributes = 50;

/** Opening tags, until the body begins. What is never closed ends the head too. */
function* headTags(html: string): Generator<Tag> {
  let at = 0;
  for (;;) {
    const start = html.indexOf("<", at);
    if (start < 0) return;
    const next = html.slice(start + 1, start + 6).toLowerCase();
    if (next === "/head" || next.startsWith("body")) return;
    if (next.startsWith("!--")) {
      const end = html.indexOf("-->", start + 4);
      if (end < 0) return;
      at = end + 3;
    } else if (/^[a-z]/.test(next)) {
      const tag = tagAt(html, start);
      if (!tag) return;
      const close = raw.has(tag.name) ? closeOf(html, tag) : tag.end;
      if (close === undefined) return;
      yield { ...tag, text: tag.name === "title" ? html.slice(tag.end, close) : "" };
      at = close;
    } else at = start + 1;
  }
}

/** Where `</title` begins. */
function closeOf(html: string, { name, end }: Pick<Tag, "name" | "end">): number | undefined {
  const closing = new RegExp(`</${name}[\\s/>]`, "gi");
  closing.lastIndex = end;
  return closing.exec(html)?.index;
}

function tagAt(html: string, start: number): Omit<Tag, "text"> | undefined {
  let at = start + 1;
  const until = (stops: string) => {
    const from = at;
    while (at < html.length && !stops.includes(html.charAt(at))) at++;
    return html.slice(from, at);
  };
  const skip = (signs: string) => {
    while (at < html.length && signs.includes(html.charAt(at))) at++;
  };
  const valueHere = (): string | undefined => {
    const quote = html.charAt(at);
    if (quote !== '"' && quote !== "'") return until(`${blanks}>`);
    const close = html.indexOf(quote, at + 1);
    if (close < 0) return undefined;
    const value = html.slice(at + 1, close);
    at = close + 1;
    return value;
  };
  const name = until(`${blanks}/>`).toLowerCase();
  const attributes = new Map<string, string>();
  for (;;) {
    skip(`${blanks}/`);
    if (at >= html.length) return undefined;
    if (html.charAt(at) === ">") return { name, attributes, end: at + 1 };
    const first = html.charAt(at++); // even a `=`
    const key = (first + until(`${blanks}/>=`)).toLowerCase();
    skip(blanks);
    let value: string | undefined = "";
    if (html.charAt(at) === "=") {
      at++;
      skip(blanks);
      value = valueHere();
    }
    if (value === undefined) return undefined;
    if (!attributes.has(key) && attributes.size < maxAttributes) attributes.set(key, value);
  }
}
