/**
 * Where Liquid stands in a template: `{{ … }}` and `{% … %}`. Pure. A pattern for both would look for the end of each
 * opening anew, which takes minutes for a template of nothing but `{{`.
 */

export interface LiquidTag {
  readonly from: number;
  readonly to: number;
}

const opening = /\{[{%]/g;

/** In order; what is never closed is no tag. */
export function liquidTags(template: string): LiquidTag[] {
  const tags: LiquidTag[] = [];
  const unclosed = new Set<string>();
  const search = new RegExp(opening);
  for (let match = search.exec(template); match; match = search.exec(template)) {
    const closing = match[0] === "{{" ? "}}" : "%}";
    const end = unclosed.has(closing) ? -1 : template.indexOf(closing, match.index + 2);
    if (end < 0) unclosed.add(closing);
    // The second brace of `{{{` may open one too.
    else tags.push({ from: match.index, to: end + 2 });
    search.lastIndex = end < 0 ? match.index + 1 : end + 2;
  }
  return tags;
}

/** The template with each tag read as `change` has it. */
export function withTags(template: string, change: (tag: string) => string): string {
  let at = 0;
  const parts = liquidTags(template).flatMap(({ from, to }) => {
    const before = template.slice(at, from);
    at = to;
    return [before, change(template.slice(from, to))];
  });
  return parts.join("") + template.slice(at);
}

/** Where the <html> tag stands, the Liquid in its attributes included; undefined where there is none. */
export function htmlTag(template: string): LiquidTag | undefined {
  const masked = withTags(template, (tag) => "_".repeat(tag.length));
  const match = /<html\b[^<>]*>/i.exec(masked);
  return match ? { from: match.index, to: match.index + match[0].length } : undefined;
}
