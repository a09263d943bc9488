/** A prompt that is not saved, as an agent would get it. It is checked like a saved one, and no token is made for it. */
import { invalid, LiquidFault, mistakes, randomToken, ValidationError } from "platform";
import type { Caller, Liquid, LiquidTemplate } from "platform";
import { holdsToken } from "../tokens/api.ts";
import type { PromptsContext } from "./context.ts";
import { extendedCode, suffix } from "./cascade.ts";
import { printerOf, unread } from "./render.ts";
import { variablesIn, type Source } from "./sources.ts";
import { tokenMisuse } from "./token-flow.ts";

interface Draft extends Texts {
  readonly content: string;
  /** With it, `<code>_extra` is appended; a draft of an `_extra` is appended to its prompt. */
  readonly code?: string;
  readonly params?: Readonly<Record<string, string>>;
}

interface Preview {
  readonly text: string;
  /** The parameters that the content asks for. */
  readonly variables: readonly string[];
  readonly unread: readonly string[];
  /** The code of the prompt that the draft is joined to. */
  readonly joinedTo: string | null;
}

/** Stands for the token in the answer, so that nothing in it works anywhere. */
const placeholder = "{{ TOKEN }}";

/** `token` is that of the request, which no text may hold. */
export async function previewOf(
  { liquid, sources }: PromptsContext,
  caller: Caller,
  token: string,
  draft: Draft,
): Promise<Preview> {
  checkTexts(draft, liquid, token);
  const own = liquid.parse(draft.content);
  const extended = draft.code === undefined ? undefined : extendedCode(draft.code);
  const otherCode = draft.code === undefined ? undefined : (extended ?? draft.code + suffix);
  const other = otherCode === undefined ? undefined : await sources.one(caller, otherCode).catch(blamed(otherCode));
  // The checks need a token that no text contains by chance.
  const standIn = randomToken(24);
  const print = printerOf({ liquid, caller, query: new URLSearchParams({ ...draft.params }), token: standIn });
  print(own); // a fault of the draft is told before one of the other
  const text =
    other && otherCode !== undefined ? joined(print, own, other, otherCode, extended !== undefined) : print(own);
  const variables = variablesIn(liquid, draft.content);
  return {
    text: text.replaceAll(standIn, placeholder),
    variables,
    unread: unread(Object.keys(draft.params ?? {}), [...variables, ...(other?.variables ?? [])]),
    joinedTo: other && otherCode !== undefined ? otherCode : null,
  };
}

type Print = (main: LiquidTemplate, addition?: LiquidTemplate) => string;

function joined(print: Print, own: LiquidTemplate, other: Source, otherCode: string, isExtra: boolean): string {
  try {
    print(other.template);
  } catch (error) {
    return blamed(otherCode)(error);
  }
  return isExtra ? print(other.template, own) : print(own, other.template);
}

/** A fault of the stored prompt has no line in the draft. */
function blamed(code: string) {
  return (error: unknown): never => {
    if (!(error instanceof LiquidFault) && !(error instanceof ValidationError)) throw error;
    throw invalid({ code: [`${code}, which belongs to it, cannot be rendered with these parameters`] });
  };
}

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
