/** A prompt as an agent gets it: found through the cascade, with its variables filled in. behaviour 2.1, B.5. */
import { invalid, LiquidFault, notFound, unknownNames, type BaseContext, type LiquidTemplate } from "platform";
import type { Rendered } from "./api.ts";
import { exposesToken } from "./address.ts";
import { promptFilters } from "./filters.ts";
import type { ReaderHere, Sources } from "./sources.ts";
import { variablesOf } from "./variables.ts";

/** Which prompt, for whom. */
export interface Asked {
  readonly caller: ReaderHere;
  readonly code: string;
  /** Names and values. */
  readonly query: Iterable<readonly [string, unknown]>;
  /** The token that the request carries. */
  readonly token: string;
}

interface Needed {
  readonly liquid: BaseContext["liquid"];
  readonly sources: Pick<Sources, "find">;
}

export type Renderer = ReturnType<typeof createRenderer>;

export function createRenderer({ liquid, sources }: Needed) {
  return async ({ caller, code, query, token }: Asked): Promise<Rendered> => {
    if (!/^[\w.-]{1,120}$/.test(code)) throw notFound();
    const { main, addition } = await sources.find(caller, code).catch(refused);
    const given = [...query];
    const text = createPrinter({ liquid, caller, query: given, token })(main.template, addition?.template);
    const known = [...main.variables, ...(addition?.variables ?? [])];
    return {
      name: main.name,
      kind: main.kind,
      text,
      unread: unread(
        given.map(([name]) => name),
        known,
      ),
    };
  };
}

/** Names each given variable that is not among those that a prompt uses. */
export function unread(given: readonly string[], known: readonly string[]): string[] {
  return unknownNames(given, known, (name) => `the prompt does not use "${name}"`);
}

interface Printing extends Omit<Asked, "code"> {
  readonly liquid: BaseContext["liquid"];
}

/** Fills in a prompt and what is appended to it. Throws the 422 of a fault, and of a token inside an address. */
export function createPrinter({ liquid, caller, query, token }: Printing) {
  const { timezone, locale, baseUrl } = caller.account;
  const variables = variablesOf(caller.account, query, token);
  const options = { timezone, locale, filters: promptFilters(baseUrl, token) };
  return (main: LiquidTemplate, addition?: LiquidTemplate): string => {
    try {
      const text = liquid.renderSync(main, variables, options);
      const added = addition ? liquid.renderSync(addition, variables, options) : "";
      const whole = added.trim() === "" ? text : appended(text, added);
      return mustNotExpose(whole, token, baseUrl);
    } catch (error) {
      return refused(error);
    }
  };
}

/** A fault of a template is the 422 that names its place. */
function refused(error: unknown): never {
  if (!(error instanceof LiquidFault)) throw error;
  throw invalid({ content: [`line ${error.line}, column ${error.column}: ${error.message}`] });
}

const heading = "## Dodatkowe instrukcje";

function appended(text: string, added: string): string {
  return `${text.trimEnd()}\n\n${heading}\n\n${added}`;
}

function mustNotExpose(text: string, token: string, ownUrl: string): string {
  if (exposesToken(text, token, ownUrl)) throw invalid({ content: ["would print TOKEN inside an address"] });
  return text;
}
