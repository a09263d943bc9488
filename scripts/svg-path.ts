/** The strokes of an SVG file as one path, so that a picture is one attribute of one element. */

type Attributes = Readonly<Record<string, string>>;

/** Throws where a shape is unknown: the picture would miss a part. */
export function pathOfSvg(svg: string): string {
  const [, inner = ""] = /<svg[^>]*>(.*)<\/svg>/s.exec(svg) ?? [];
  return [...inner.matchAll(/<(\w+)([^>]*)>/g)]
    .map(([, shape = "", rest = ""]) => pathOf(shape, attributesOf(rest)))
    .join("");
}

function attributesOf(text: string): Attributes {
  return Object.fromEntries(
    [...text.matchAll(/([\w-]+)="([^"]*)"/g)].map(([, name = "", value = ""]) => [name, value]),
  );
}

function pathOf(shape: string, attributes: Attributes): string {
  const number = (name: string) => Number(attributes[name] ?? 0);
  switch (shape) {
    case "path":
      return fromOrigin(attributes["d"] ?? "");
    case "line":
      return `M${number("x1")} ${number("y1")}L${number("x2")} ${number("y2")}`;
    case "polyline":
      return `M${attributes["points"]}`;
    case "polygon":
      return `M${attributes["points"]}z`;
    case "circle":
      return ellipse(number("cx"), number("cy"), number("r"), number("r"));
    case "ellipse":
      return ellipse(number("cx"), number("cy"), number("rx"), number("ry"));
    case "rect":
      return rectangle(attributes);
    default:
      throw new Error(`an icon has a <${shape}>, which scripts/svg-path.ts does not know`);
  }
}

/** A path that begins with a relative move begins at the origin: after another one it would go on from where that ends. */
function fromOrigin(d: string): string {
  return d.startsWith("m") ? `M0 0${d}` : d;
}

function ellipse(x: number, y: number, rx: number, ry: number): string {
  return `M${x - rx} ${y}a${rx} ${ry} 0 1 0 ${2 * rx} 0a${rx} ${ry} 0 1 0 ${-2 * rx} 0`;
}

function rectangle(attributes: Attributes): string {
  const [x = 0, y = 0, width = 0, height = 0] = ["x", "y", "width", "height"].map((name) =>
    Number(attributes[name] ?? 0),
  );
  const r = Number(attributes["rx"] ?? attributes["ry"] ?? 0);
  if (r === 0) return `M${x} ${y}h${width}v${height}h${-width}z`;
  const [h, v] = [width - 2 * r, height - 2 * r];
  const corner = (dx: number, dy: number) => `a${r} ${r} 0 0 1 ${dx} ${dy}`;
  return `M${x + r} ${y}h${h}${corner(r, r)}v${v}${corner(-r, r)}h${-h}${corner(-r, -r)}v${-v}${corner(r, -r)}z`;
}
