import { mistakes, type Liquid } from "platform";
import { holdsToken } from "../tokens/api.ts";
import { tokenMisuse } from "./token-flow.ts";

export interface Texts {
  readonly name?: string;
  readonly content?: string;
  readonly ai_placeholder?: string | null;
}

/**
 * Checks what will be visible to other people of the account. Throws the 422: `content` that is no Liquid template or
 * prints `TOKEN` inside an address, and a real token in any text (behaviour 2.1, B.5).
 */
export function checkTexts(texts: Texts, liquid: Liquid, carriedToken: string): void {
  const wrong = mistakes();
  for (const field of ["name", "content", "ai_placeholder"] as const) {
    const text = texts[field];
    if (text && holdsToken(text, carriedToken)) wrong.add(field, "holds a real token: write {{ TOKEN }} instead");
  }
  if (texts.content !== undefined) {
    const { content } = texts;
    const fault = liquid.syntaxError(content) ?? tokenMisuse(liquid.parse(content).nodes);
    if (fault) wrong.add("content", `line ${fault.line}, column ${fault.column}: ${fault.message}`);
  }
  wrong.check();
}
