/** A prompt that is not saved, as an agent would get it. It is checked like a saved one, and no token is made for it. */
import {
  invalid,
  LiquidFault,
  randomToken,
  ValidationError,
  type BaseContext,
  type Caller,
  type LiquidTemplate,
} from "platform";
import { checkTexts, type Texts } from "./check.ts";
import { extendedCode, suffix } from "./permission.ts";
import { createPrinter, unread } from "./render.ts";
import type { Source, Sources } from "./sources.ts";
import { variablesIn } from "./variables.ts";

export interface Draft extends Texts {
  readonly content: string;
  /** With it, `<code>_extra` is appended; a draft of an `_extra` is appended to its prompt. */
  readonly code?: string;
  readonly params?: Readonly<Record<string, string>>;
}

export interface Preview {
  readonly text: string;
  /** The parameters that the content asks for. */
  readonly variables: readonly string[];
  readonly unread: readonly string[];
  /** The code of the prompt that the draft is joined to. */
  readonly joinedTo: string | null;
}

interface Needed {
  readonly liquid: BaseContext["liquid"];
  readonly sources: Pick<Sources, "one">;
}

export type Previews = ReturnType<typeof createPreviews>;

/** Stands for the token in the answer, so that nothing in it works anywhere. */
const placeholder = "{{ TOKEN }}";

export function createPreviews({ liquid, sources }: Needed) {
  return async (caller: Caller, token: string, draft: Draft): Promise<Preview> => {
    checkTexts(draft, liquid, token);
    const own = liquid.parse(draft.content);
    const extended = draft.code === undefined ? undefined : extendedCode(draft.code);
    const otherCode = draft.code === undefined ? undefined : (extended ?? draft.code + suffix);
    const other = otherCode === undefined ? undefined : await sources.one(caller, otherCode).catch(blamed(otherCode));
    // The checks need a token that no text contains by chance.
    const standIn = randomToken(24);
    const print = createPrinter({ liquid, caller, query: new URLSearchParams({ ...draft.params }), token: standIn });
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
