/** What `/docs` itself says; the descriptions of the API are English. `{…}` is filled in. */
import type { Language } from "../../http/language.ts";
import de from "./text/de.json" with { type: "json" };
import en from "./text/en.json" with { type: "json" };
import pl from "./text/pl.json" with { type: "json" };

export type DocsWords = Readonly<typeof en>;

export const docsWords: Readonly<Record<Language, DocsWords>> = { en, pl, de };
