/**
 * Makes an SVG harmless: it is read by a strict XML parser, and only elements and attributes that draw are written
 * again. So whatever is not known here (scripts, handlers, foreign content, entities, addresses) is gone.
 */
import { invalid } from "platform";

/** A drawing has less; a larger one would keep the process busy. */
export const maxSvgBytes = 2_000_000;

const elements = new Set(
  `svg g defs symbol use title desc path rect circle ellipse line polyline polygon text tspan textPath image
  linearGradient radialGradient stop pattern clipPath mask marker switch style filter feBlend feColorMatrix
  feComponentTransfer feComposite feConvolveMatrix feDiffuseLighting feDisplacementMap feDistantLight feDropShadow
  feFlood feFuncA feFuncB feFuncG feFuncR feGaussianBlur feMerge feMergeNode feMorphology feOffset fePointLight
  feSpecularLighting feSpotLight feTile feTurbulence animate animateTransform animateMotion mpath`.split(/\s/),
);
/** Attributes that are never written, though they draw nothing wrong by themselves. */
const refused = /^(?:on|xmlns:|xml:base$)/i;
const attributeName = /^[A-Za-z][A-Za-z0-9_.-]{0,60}$/;
const pictureData = /^data:image\/(?:png|jpeg|gif|webp);base64,/;

/** Throws the 422 if it is no SVG. */
export async function harmlessSvg(text: string): Promise<string> {
  const { SaxesParser } = await import("saxes");
  const parser = new SaxesParser({ xmlns: true, position: false });
  const out: string[] = [];
  /** How many open elements, from the first refused one on, are left out. */
  let skipped = 0;
  let styles = "";
  let fault = "";
  parser.on("error", (error) => {
    fault ||= error.message;
  });
  parser.on("opentag", ({ local, uri, attributes }) => {
    if (skipped > 0 || uri !== svgNamespace || !elements.has(local)) skipped++;
    else if (local === "style") styles = " ";
    else {
      const names = Object.values(attributes).flatMap((one) => {
        const value = kept(local, one.local, one.uri, one.value);
        return value === undefined ? [] : [` ${one.local}="${escaped(value)}"`];
      });
      out.push(`<${local}${out.length === 0 ? ` xmlns="${svgNamespace}"` : ""}${names.join("")}>`);
    }
  });
  parser.on("text", (piece) => {
    if (skipped > 0 || out.length === 0) return;
    if (styles !== "") styles += piece;
    else out.push(escaped(piece));
  });
  parser.on("cdata", (piece) => {
    if (skipped === 0 && styles !== "") styles += piece;
  });
  parser.on("closetag", ({ local }) => {
    if (skipped > 0) skipped--;
    else if (local === "style") {
      if (isHarmlessStyle(styles)) out.push(`<style>${escaped(styles.trim())}</style>`);
      styles = "";
    } else out.push(`</${local}>`);
  });
  parser.write(text).close();
  if (!out[0]?.startsWith("<svg")) fault ||= "there is no element `svg`";
  if (fault !== "") throw invalid({ file: [`is no SVG that can be read: ${fault}`.slice(0, 300)] });
  return out.join("").trim();
}

const svgNamespace = "http://www.w3.org/2000/svg";

/** The value as it is written, or undefined. */
function kept(element: string, name: string, uri: string, value: string): string | undefined {
  if (name === "xmlns" || refused.test(name) || !attributeName.test(name)) return undefined;
  if (uri !== "" && !uri.endsWith("/xlink") && !uri.endsWith("/XML/1998/namespace")) return undefined;
  if (name === "href") return isHarmlessReference(element, value.trim()) ? value.trim() : undefined;
  // An animation may set the address of what it animates.
  if (name === "attributeName" && /href|^on/i.test(value)) return undefined;
  return isHarmlessStyle(value) ? value : undefined;
}

/** Within the drawing, or a picture that is in it. */
function isHarmlessReference(element: string, value: string): boolean {
  return value.startsWith("#") || (element === "image" && pictureData.test(value) && isBase64(value));
}

function isBase64(value: string): boolean {
  try {
    atob(value.slice(value.indexOf(",") + 1));
    return true;
  } catch {
    return false;
  }
}

/** No escapes, rules from elsewhere or addresses, except of parts of the drawing: `url(#shade)`. */
function isHarmlessStyle(value: string): boolean {
  if (/[\\@]|expression|javascript:|behaviou?r|-moz-binding/i.test(value)) return false;
  return (
    value
      .split(/url\s?\(/i)
      .slice(1)
      .every((rest) => /^\s{0,9}["']?#/.test(rest)) && !/url\s{2,}\(/i.test(value)
  );
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
