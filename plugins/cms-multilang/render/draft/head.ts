/** The tags in the head of a page, read as a browser reads them. Pure, and linear in the length of the page. */

export interface Tag {
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
export function* headTags(html: string): Generator<Tag> {
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
