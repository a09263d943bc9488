/** Puts the entities that a document declares itself, as Illustrator's do, in their places, within bounds. */
import { invalid } from "platform";

const maxEntities = 200;
/** How deep entities may hold entities. */
const maxRounds = 4;

/** The text without its document type. Throws the 422 if the entities make it larger than `maxChars`. */
export function withoutDoctype(text: string, maxChars: number): string {
  const start = text.search(/<!DOCTYPE/i);
  // Behind the first element, it would be a fault that the parser finds.
  const first = text.search(/<[A-Za-z]/);
  if (start < 0 || (first >= 0 && first < start)) return text;
  const end = endOf(text, start);
  const entities = entitiesIn(text.slice(start, end));
  let rest = text.slice(0, start) + text.slice(end);
  for (let round = 0; round < maxRounds && entities.size > 0; round++) {
    let room = maxChars - rest.length;
    const next = rest.replaceAll(/&([A-Za-z_][\w.-]{0,60});/g, (whole, name: string) => {
      const value = entities.get(name);
      if (value === undefined || room < 0) return whole;
      room -= value.length;
      return value;
    });
    if (room < 0) throw invalid({ file: [`is no SVG that can be read: its entities make it larger than ${maxChars}`] });
    if (next === rest) break;
    rest = next;
  }
  return rest;
}

/** Behind its `>`; quoted text and the part in brackets may hold others. */
function endOf(text: string, start: number): number {
  let isInside = false;
  for (let at = start; at < text.length; at++) {
    const sign = text[at] ?? "";
    if (sign === '"' || sign === "'") {
      const close = text.indexOf(sign, at + 1);
      if (close < 0) break;
      at = close;
    } else if (sign === "[") isInside = true;
    else if (sign === "]") isInside = false;
    else if (sign === ">" && !isInside) return at + 1;
  }
  return text.length;
}

/** Those with a value of their own; what others declare elsewhere is never read. */
function entitiesIn(doctype: string): Map<string, string> {
  const entities = new Map<string, string>();
  const declared = /<!ENTITY\s{1,20}([A-Za-z_][\w.-]{0,60})\s{1,20}(?:"([^"]{0,2000})"|'([^']{0,2000})')\s{0,20}>/g;
  for (const [, name = "", double, single] of doctype.matchAll(declared)) {
    if (entities.size >= maxEntities) break;
    // The first declaration counts.
    if (!entities.has(name)) entities.set(name, double ?? single ?? "");
  }
  return entities;
}
