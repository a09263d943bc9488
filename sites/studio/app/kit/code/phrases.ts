/** What the editor itself says, in the languages of the Studio. */
import { EditorState, type Extension } from "@codemirror/state";
import type { Language } from "../../state/text.svelte.ts";
import de from "./text/de.json" with { type: "json" };
import en from "./text/en.json" with { type: "json" };
import pl from "./text/pl.json" with { type: "json" };

const phrases = { en, pl, de } as const;

export function phrasesIn(language: Language): Extension {
  return EditorState.phrases.of(phrases[language]);
}
