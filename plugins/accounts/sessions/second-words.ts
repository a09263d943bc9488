/** What the pages of the second step say. */
import type { Language } from "platform";
import de from "./text/second-step/de.json" with { type: "json" };
import en from "./text/second-step/en.json" with { type: "json" };
import pl from "./text/second-step/pl.json" with { type: "json" };

export type SecondWords = Readonly<typeof en>;

export const secondWords: Readonly<Record<Language, SecondWords>> = { en, pl, de };
