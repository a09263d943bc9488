/** What may be said of a file: as JSON in a change, as texts in the form of an upload. */
import { checkerOf, field, invalid, Type, type Static } from "platform";

/** `{ "en": "Our team", "pl": "Nasz zespół" }` */
const texts = () =>
  Type.Record(Type.String({ pattern: "^[a-z]{2}$" }), Type.String({ minLength: 1, maxLength: 1000 }), {
    additionalProperties: false,
    maxProperties: 50,
    description: "text by locale, two small letters each",
  });

export const Patch = Type.Object({
  name: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
  folder: Type.Optional(Type.String({ maxLength: 1000, description: "`team/2026`; empty is the top" })),
  is_public: Type.Optional(field.flag()),
  titles: Type.Optional(texts()),
  alts: Type.Optional(texts()),
});
export type MediaPatch = Static<typeof Patch>;

const checked = checkerOf(Patch);
const known = new Set(["name", "folder", "is_public", "titles", "alts"]);

/** Throws the 422 for a field of a form that is unknown or not what it should be. An empty one was not filled in. */
export function patchOf(form: Readonly<Record<string, string>>): MediaPatch {
  const given: Record<string, unknown> = {};
  for (const [name, text] of Object.entries(form)) {
    if (!known.has(name)) throw invalid({ [name]: ["is unknown"] });
    if (text === "") continue;
    given[name] = name === "is_public" ? flag(text) : name === "name" || name === "folder" ? text : json(name, text);
  }
  return checked(given);
}

function flag(text: string): boolean {
  if (text === "true" || text === "1" || text === "on") return true;
  if (text === "false" || text === "0") return false;
  throw invalid({ is_public: ["must be true or false"] });
}

function json(name: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalid({ [name]: ["must be a JSON object of texts by locale"] });
  }
}
