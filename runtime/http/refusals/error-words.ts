/** What the pages of refusals say. The API's own messages are English; the few that people meet here are translated. */
import type { Language } from "../language.ts";
import type { ProxyMistake } from "./proxy-mistake.ts";
import de from "./text/de.json" with { type: "json" };
import en from "./text/en.json" with { type: "json" };
import pl from "./text/pl.json" with { type: "json" };

export interface ErrorWords {
  /** By status. */
  readonly titles: Readonly<Record<string, string>>;
  /** Of any other status below 500, and above. */
  readonly refused: string;
  readonly failed: string;
  readonly nothingHere: string;
  readonly signIn: string;
  readonly start: string;
  readonly messages: Readonly<Record<string, string>>;
  /** About a proxy in front of the server that leaves out what it should pass on. */
  readonly proxy: Readonly<Record<ProxyMistake | "title" | "more", string>>;
}

export const errorWords: Readonly<Record<Language, ErrorWords>> = { en, pl, de };
