/** What a search engine reads in the head of a page. Pure. */
import { escapeHtml } from "platform";

export interface Seen {
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

/**
 * What the page says of itself, and the page with its links leading out of the frame that shows it: in there they would
 * lead to addresses of the account. Only the first title, description and canonical address count.
 */
export function seenIn(html: string): { readonly seen: Seen; readonly framed: string } {
  let title: string | null = null;
  let isTitleOver = false;
  const attributes: Record<"description" | "robots" | "canonical" | "lang", string | null> = {
    description: null,
    robots: null,
    canonical: null,
    lang: null,
  };
  const alternates: { locale: string; url: string }[] = [];
  const note = (name: keyof typeof attributes, value: string | null) => {
    if (value !== null) attributes[name] ??= decoded(value.slice(0, maxChars)).trim();
  };
  const framed = new HTMLRewriter()
    .on("html", { element: (root) => note("lang", root.getAttribute("lang")) })
    .on("head", { element: (head) => void head.prepend('<base target="_blank">', { html: true }) })
    .on("title", {
      text(chunk) {
        if (isTitleOver) return;
        title = ((title ?? "") + chunk.text).slice(0, maxChars);
        isTitleOver = chunk.lastInTextNode;
      },
    })
    .on("meta[name]", {
      element(meta) {
        const name = meta.getAttribute("name")?.toLowerCase();
        if (name === "description" || name === "robots") note(name, meta.getAttribute("content"));
      },
    })
    .on("link[rel]", {
      element(link) {
        const [rel, url] = [link.getAttribute("rel")?.toLowerCase(), link.getAttribute("href")];
        const locale = link.getAttribute("hreflang");
        if (url === null) return;
        if (rel === "canonical") note("canonical", url);
        if (rel === "alternate" && locale !== null && alternates.length < maxAlternates)
          alternates.push({ locale: decoded(locale.slice(0, 100)), url: decoded(url.slice(0, maxChars)) });
      },
    })
    .transform(html);
  const { canonical, ...others } = attributes;
  const whole: string | null = title;
  const seen = { title: whole && oneLine(decoded(whole)), canonical_url: canonical, alternates, ...others };
  return { seen, framed };
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
