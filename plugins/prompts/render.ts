/** A prompt as an agent gets it: found through the cascade, its variables filled in. behaviour 2.1, B.5. */
import { cacheKey, invalid, LiquidFault, notFound, parseCacheKey } from "platform";
import type { Account, BaseContext, Caller, LiquidTemplate } from "platform";
import { exposesToken } from "./address.ts";
import type { BuiltIn } from "./built-in.ts";
import { firstOf } from "./cascade.ts";
import type { Candidate, PromptStore } from "./store.ts";
import { promptFilters } from "./filters.ts";

export interface Rendered {
  readonly name: string | null;
  readonly text: string;
}

interface Source {
  readonly name: string | null;
  readonly template: LiquidTemplate;
}

export interface Needed {
  readonly ctx: Pick<BaseContext, "cache" | "liquid">;
  readonly store: PromptStore;
  readonly builtIn: ReadonlyMap<string, BuiltIn>;
}

export interface Request {
  readonly caller: Caller;
  readonly code: string;
  readonly query: URLSearchParams;
  /** The one that the request carries. */
  readonly token: string;
}

const heading = "## Dodatkowe instrukcje";
const extra = (code: string) => `${code}_extra`;

export function createRendering({ ctx, store, builtIn }: Needed) {
  // By account and code, the candidates of the code and of its `_extra`: who asks picks among them.
  const candidates = ctx.cache<readonly Candidate[]>({
    name: "prompts.candidates",
    max: 5000,
    load: (key) => {
      const { accountId, name: code } = parseCacheKey(key);
      return store.candidates(accountId, [code, extra(code)]);
    },
  });
  // By account, id and version, so that nothing of it ever changes.
  const sources = ctx.cache<Source>({
    name: "prompts.sources",
    max: 300,
    load: async (key) => {
      const { accountId, name } = parseCacheKey(key);
      const [id = "", version] = name.split(":");
      const row = await store.contentOf(accountId, id, Number(version));
      return row && { name: row.name, template: ctx.liquid.parse(row.content) };
    },
  });
  const builtInSources = new Map<string, Source>();

  const sourceOf = async (rows: readonly Candidate[], code: string, { account, user }: Caller) => {
    const row = firstOf(
      rows.filter((candidate) => candidate.code === code),
      user,
    );
    if (!row) return builtInSource(code);
    const key = cacheKey(account.id, `${row.id}:${row.version}`);
    const source = sources.peek(key) ?? (await sources.get(key));
    if (!source) throw new Gone();
    return source;
  };

  const builtInSource = (code: string): Source | undefined => {
    const known = builtInSources.get(code);
    const file = known ? undefined : builtIn.get(code);
    if (!file) return known;
    const source = { name: file.name, template: ctx.liquid.parse(file.text) };
    builtInSources.set(code, source);
    return source;
  };

  const resolve = async (caller: Caller, code: string) => {
    const key = cacheKey(caller.account.id, code);
    const rows = candidates.peek(key) ?? (await candidates.get(key)) ?? [];
    const main = await sourceOf(rows, code, caller);
    // An `_extra` alone is no prompt (behaviour B.5).
    if (!main) throw notFound();
    return { main, addition: await sourceOf(rows, extra(code), caller) };
  };

  /** A prompt that was deleted between the two look-ups is looked up again, once. */
  const resolveAgain = async (caller: Caller, code: string, error: unknown) => {
    if (!(error instanceof Gone)) throw error;
    await candidates.invalidate(cacheKey(caller.account.id, code));
    return resolve(caller, code).catch((again: unknown) => {
      throw again instanceof Gone ? notFound() : again;
    });
  };

  const render = async ({ caller, code, query, token }: Request): Promise<Rendered> => {
    if (!/^[\w.-]{1,120}$/.test(code)) throw notFound();
    try {
      const found = await resolve(caller, code).catch((error: unknown) => resolveAgain(caller, code, error));
      const { main, addition } = found;
      const variables = variablesOf(caller.account, query, token);
      const { timezone, locale, baseUrl } = caller.account;
      const options = { timezone, locale, filters: promptFilters(baseUrl, token) };
      const text = ctx.liquid.renderSync(main.template, variables, options);
      const added = addition ? ctx.liquid.renderSync(addition.template, variables, options) : "";
      const whole = added.trim() === "" ? text : appended(text, added);
      return { name: main.name, text: mustNotExpose(whole, token, baseUrl) };
    } catch (error) {
      if (!(error instanceof LiquidFault)) throw error;
      throw invalid({ content: [`line ${error.line}, column ${error.column}: ${error.message}`] });
    }
  };

  return {
    render,
    /** After a change has committed, before its answer. */
    forget: async (accountId: number, codes: readonly string[]): Promise<void> => {
      const all = new Set(codes.flatMap((code) => [code, code.replace(/_extra$/, "")]));
      await Promise.all([...all].map((code) => candidates.invalidate(cacheKey(accountId, code))));
    },
  };
}

/** The version that was to be rendered is no longer there. */
class Gone extends Error {}

function appended(text: string, added: string): string {
  return `${text.trimEnd()}\n\n${heading}\n\n${added}`;
}

function mustNotExpose(text: string, token: string, ownUrl: string): string {
  if (exposesToken(text, token, ownUrl)) throw invalid({ content: ["would print TOKEN inside an address"] });
  return text;
}

/** A query parameter never takes the place of what the server fills in. */
function variablesOf(account: Account, query: URLSearchParams, token: string): Record<string, unknown> {
  const { baseUrl } = account;
  const variables: Record<string, unknown> = Object.assign(Object.create(null), { date: today(account.timezone) });
  for (const [name, value] of query) {
    if (name !== "date" || value !== "") variables[name] = value;
  }
  return Object.assign(variables, {
    TOKEN: token,
    api_token: token,
    ACCOUNT_URL: baseUrl,
    account_url: baseUrl,
    base_url: baseUrl,
  });
}

const calendars = new Map<string, Intl.DateTimeFormat>();

/** `2026-01-31` in that time zone. */
function today(timeZone: string): string {
  let calendar = calendars.get(timeZone);
  if (!calendar) {
    calendar = new Intl.DateTimeFormat("en-CA", { timeZone, year: "numeric", month: "2-digit", day: "2-digit" });
    calendars.set(timeZone, calendar);
  }
  return calendar.format(new Date());
}
