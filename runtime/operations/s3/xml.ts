/** Reads the small, flat XML of S3's answers. Pure. */

/** The contents of all elements of this name, in order; those of a name do not contain each other. */
export function elements(xml: string, name: string): string[] {
  const found: string[] = [];
  const begin = `<${name}>`;
  const end = `</${name}>`;
  for (let at = xml.indexOf(begin); at !== -1; at = xml.indexOf(begin, at)) {
    const to = xml.indexOf(end, at);
    if (to === -1) break;
    found.push(xml.slice(at + begin.length, to));
    at = to + end.length;
  }
  return found;
}

/** The text of the first element of this name. */
export function textOf(xml: string, name: string): string | undefined {
  const [first] = elements(xml, name);
  return first === undefined ? undefined : unescaped(first);
}

const entities: Readonly<Record<string, string>> = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&" };

function unescaped(text: string): string {
  return text.replaceAll(/&(#x[\da-f]{1,6}|#\d{1,7}|[a-z]{2,4});/gi, (whole, name: string) => {
    if (!name.startsWith("#")) return entities[name] ?? whole;
    const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
    return code <= 0x10_ff_ff ? String.fromCodePoint(code) : whole;
  });
}
