/** Checks that every record shares: templates, `fields`, and real tokens anywhere. */
import type { mistakes } from "platform";
import { holdsToken } from "../tokens/api.ts";
import type { SiteEngine } from "./render/templates/engine.ts";

export const maxContent = 1_000_000;
/** The limit of a template: the engine parses no longer ones. */
export const maxTemplate = 256_000;
export const maxFieldsChars = 500_000;
export const maxFieldsDepth = 20;

type Mistakes = ReturnType<typeof mistakes>;

interface Texts {
  readonly content?: string | null | undefined;
  readonly fields?: Readonly<Record<string, unknown>> | undefined;
}

/** The part of the engine that checks templates. */
export type TemplateCheck = Pick<SiteEngine, "mistakes">;

/** Adds a template's mistakes (with line and column) under `content`, and fields that are too large under `fields`. */
export function checkTexts(wrong: Mistakes, engine: TemplateCheck, { content, fields }: Texts): void {
  if (content) for (const mistake of engine.mistakes(content)) wrong.add("content", mistake);
  checkFields(wrong, fields);
}

export function checkFields(wrong: Mistakes, fields: Texts["fields"]): void {
  if (!fields) return;
  if (isDeeper(fields, maxFieldsDepth)) wrong.add("fields", `may nest at most ${maxFieldsDepth} levels deep`);
  else if (JSON.stringify(fields).length > maxFieldsChars)
    wrong.add("fields", `may have at most ${maxFieldsChars} characters as JSON`);
}

/**
 * Adds a mistake for every value that holds a real token, because any value may end up on a public page. `carried` is
 * the request's own token, which may have been issued elsewhere.
 */
export function checkTokens(wrong: Mistakes, values: object, carried?: string): void {
  for (const [name, value] of Object.entries(values)) {
    const text = typeof value === "string" ? value : JSON.stringify(value);
    if (text && holdsToken(text, carried)) wrong.add(name, "holds a real token, which visitors could read");
  }
}

/** The limits of the body bound the recursion. */
function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1));
}
