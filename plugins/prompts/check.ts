import { mistakes, type Liquid } from "platform";
import { holdsToken } from "../tokens/api.ts";
import { tokenMisuse } from "./token-flow.ts";

export interface Texts {
  readonly name?: string | undefined;
  readonly content?: string | undefined;
  readonly ai_placeholder?: string | null | undefined;
}

/**
 * Checks the texts that other people in the account will see. Throws the 422 if `content` is not valid Liquid or prints
 * `TOKEN` inside an address, or if any text holds a real token (behaviour 2.1, B.5).
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
