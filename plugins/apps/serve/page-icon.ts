import { escapeHtml } from "platform";

interface Named {
  readonly id: string;
  readonly name: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** The app's icon as a data: address: `fields.icon` if it is a letter or an emoji, else the name's first letter. */
export function iconOf({ id, name, fields }: Named): string {
  const { icon } = fields;
  const given = typeof icon === "string" && icon.length <= 16 ? firstCharacter(icon) : undefined;
  const letter = given ?? firstCharacter(name)?.toUpperCase() ?? "?";
  const svg = `<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'><rect width='32' height='32' rx='8' fill='hsl(${hueOf(id)},60%,40%)'/><text x='16' y='23' style='font:600 19px system-ui' text-anchor='middle' fill='white'>${escapeHtml(letter)}</text></svg>`;
  // Goes into an HTML attribute unescaped.
  return `data:image/svg+xml,${svg.replace(/[^\w \-./:=;,()']/gu, encodeURIComponent)}`;
}

/** Made when it is first needed, because it loads tables of 2 MB. */
let segmenter: Intl.Segmenter | undefined;

/** A lone half of a surrogate pair would break the address. */
function firstCharacter(text: string): string | undefined {
  segmenter ??= new Intl.Segmenter("en", { granularity: "grapheme" });
  for (const { segment } of segmenter.segment(text.trim().slice(0, 32).toWellFormed())) return segment;
  return undefined;
}

function hueOf(id: string): number {
  let sum = 0;
  for (const char of id) sum = (sum * 31 + char.charCodeAt(0)) % 360;
  return sum;
}
