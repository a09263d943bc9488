/**
 * Finds Liquid in a template: `{{ … }}` and `{% … %}`. Pure. A single pattern would search for an end from every
 * opening, which takes minutes for a template of nothing but `{{`.
 */

export interface LiquidTag {
  readonly from: number;
  readonly to: number;
}

const opening = /\{[{%]/g;

/** In their order. An opening that is never closed is not a tag. */
export function liquidTags(template: string): LiquidTag[] {
  const tags: LiquidTag[] = [];
  const unclosed = new Set<string>();
  const search = new RegExp(opening);
  for (let match = search.exec(template); match; match = search.exec(template)) {
    const closing = match[0] === "{{" ? "}}" : "%}";
    const end = unclosed.has(closing) ? -1 : template.indexOf(closing, match.index + 2);
    if (end < 0) unclosed.add(closing);
    // The second brace of `{{{` may be an opening too.
    else tags.push({ from: match.index, to: end + 2 });
    search.lastIndex = end < 0 ? match.index + 1 : end + 2;
  }
  return tags;
}

/** The template with each tag replaced by the result of `change`. */
export function withTags(template: string, change: (tag: string) => string): string {
  let at = 0;
  const parts = liquidTags(template).flatMap(({ from, to }) => {
    const before = template.slice(at, from);
    at = to;
    return [before, change(template.slice(from, to))];
  });
  return parts.join("") + template.slice(at);
}

/** The position of the <html> tag, including Liquid in its attributes; undefined if the template has none. */
export function htmlTag(template: string): LiquidTag | undefined {
  const masked = withTags(template, (tag) => "_".repeat(tag.length));
  const match = /<html\b[^<>]*>/i.exec(masked);
  return match ? { from: match.index, to: match.index + match[0].length } : undefined;
}
