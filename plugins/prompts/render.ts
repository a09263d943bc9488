/** A prompt as an agent gets it: found through the cascade, with its variables filled in. behaviour 2.1, B.5. */
import { invalid, isUuid, LiquidFault, notFound, unknownNames } from "platform";
import type { BaseContext, LiquidFilter, LiquidTemplate } from "platform";
import { exposesToken } from "./address.ts";
import type { Prompts, Rendered } from "./api.ts";
import type { PromptsContext } from "./context.ts";
import { variablesOf, type ReaderHere } from "./sources.ts";
import { codeOf } from "./store.ts";

/** Which prompt, for whom. */
interface RenderRequest {
  readonly caller: ReaderHere;
  readonly code: string;
  /** Names and values. */
  readonly query: Iterable<readonly [string, unknown]>;
  /** The token that the request carries. */
  readonly token: string;
}

export async function renderPrompt(
  { liquid, sources }: PromptsContext,
  { caller, code, query, token }: RenderRequest,
): Promise<Rendered> {
  if (!/^[\w.-]{1,120}$/.test(code)) throw notFound();
  const { main, addition } = await sources.find(caller, code).catch(refused);
  const given = [...query];
  const text = printerOf({ liquid, caller, query: given, token })(main.template, addition?.template);
  const names = given.map(([name]) => name);
  const known = [...main.variables, ...(addition?.variables ?? [])];
  return { name: main.name, kind: main.kind, text, unread: unread(names, known) };
}

/** Names each given variable that is not among those that a prompt uses. */
export function unread(given: readonly string[], known: readonly string[]): string[] {
  return unknownNames(given, known, (name) => `the prompt does not use "${name}"`);
}

interface Printing extends Omit<RenderRequest, "code"> {
  readonly liquid: BaseContext["liquid"];
}

/** Fills in a prompt and what is appended to it. Throws the 422 of a fault, and of a token inside an address. */
export function printerOf({ liquid, caller, query, token }: Printing) {
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

/** `prompt_url` and `api_block` for one rendering: the account's address and the reader's token are in them. behaviour 2.1. */
export function promptFilters(baseUrl: string, token: string) {
  const urlOf = (code: string) => `${baseUrl}/core/prompt/${encodeURIComponent(code)}.md`;
  return {
    prompt_url: (value) => {
      const [code] = codesOf(value);
      return code === undefined ? "" : urlOf(code);
    },
    api_block: (value) => {
      const instructions = codesOf(value).map((code) => `Instrukcje API: ${urlOf(code)}`);
      return [
        ...instructions,
        `Zasady API: ${urlOf("common_api")}`,
        `Host: ${baseUrl}`,
        `Authorization: Bearer ${token}`,
      ].join("\n");
    },
  } satisfies Record<string, LiquidFilter>;
}

/** For templates other than prompts that use one of the two. */
export const outsidePrompts: LiquidFilter = () => {
  throw new Error("this filter works in prompts only");
};

const maxCodes = 50;

/** `"apps_api, dbs_api"` or a list of codes. */
function codesOf(value: unknown): string[] {
  const parts: unknown[] = Array.isArray(value) ? value : typeof value === "string" ? value.split(",") : [];
  const codes = parts.filter((part) => typeof part === "string").map((part) => part.trim());
  const given = codes.filter((code) => code !== "");
  if (given.length > maxCodes) throw new Error(`names more than ${maxCodes} prompts`);
  return given;
}

/** In no team, and nobody's id: only the account's prompts and the built-in ones are for this reader. */
const nobody = { id: 0, teamIds: [], departmentIds: [] };

/** Prompts as a model is told them, without a token. */
export function forModels(ctx: PromptsContext): Prompts {
  return {
    async renderFor(caller, key, variables) {
      const code = isUuid(key) ? await codeOf(ctx.sql, caller.account.id, caller.user, key.toLowerCase()) : key;
      if (code === undefined) throw notFound();
      return renderPrompt(ctx, { caller, code, query: Object.entries(variables), token: "" });
    },
    async renderForAccount(accountId, code, variables) {
      const account = await ctx.accounts.accountById(accountId);
      if (!account) throw notFound();
      return renderPrompt(ctx, {
        caller: { account, user: nobody },
        code,
        query: Object.entries(variables),
        token: "",
      });
    },
  };
}
