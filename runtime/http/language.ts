/** The language of the server's own pages: the one chosen in the Studio, else the first that the browser asks for. */
import { readCookie } from "./auth.ts";

export const languages = ["en", "pl", "de"] as const;
export type Language = (typeof languages)[number];

/** The Studio writes it (sites/studio/app/state/text.svelte.ts). */
const cookieName = "core_language";

export function languageOf({ headers }: Pick<Request, "headers">): Language {
  const chosen = readCookie(headers.get("cookie"), cookieName) ?? "";
  const wanted = [chosen, ...asked(headers.get("accept-language") ?? "")];
  return wanted.flatMap((tag) => languages.find((language) => language === tag) ?? [])[0] ?? "en";
}

/** Replaces each `{name}` of a message by its value; other braces stay. Nothing is escaped. */
export function filledIn(message: string, values: Readonly<Record<string, string | number>>): string {
  return message.replaceAll(/\{(\w{1,40})\}/g, (whole, name: string) =>
    Object.hasOwn(values, name) ? `${values[name]}` : whole,
  );
}

/** `de-AT, en;q=0.5` -> `["de", "en"]`, the most wanted first. */
function asked(header: string): string[] {
  const tags = header.split(",", 50).map((part) => {
    const [tag = "", ...parameters] = part.split(";").map((word) => word.trim().toLowerCase());
    const weight = Number(parameters.find((word) => word.startsWith("q="))?.slice(2) ?? 1);
    return { language: tag.split("-", 1)[0] ?? "", weight: Number.isNaN(weight) ? 0 : weight };
  });
  return tags
    .filter(({ weight }) => weight > 0)
    .toSorted((a, b) => b.weight - a.weight)
    .map(({ language }) => language);
}
