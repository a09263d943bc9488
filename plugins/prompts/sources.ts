/** Finds the templates of a code for a person, through the cascade and its caches. behaviour 2.1, B.5. */
import { cacheKey, notFound, parseCacheKey, type BaseContext, type Account, type LiquidTemplate } from "platform";
import type { BuiltIn } from "./built-in.ts";
import { extendedCode, firstOf, suffix, type Reader } from "./cascade.ts";
import { candidates as candidatesOf, contentOf, type Candidate, type Kind } from "./store.ts";

export interface Source {
  readonly name: string | null;
  readonly kind: Kind;
  readonly template: LiquidTemplate;
  /** Variables that a parameter may set. */
  readonly variables: readonly string[];
}

/** For whom a prompt is found. */
export interface ReaderHere {
  readonly account: Account;
  readonly user: Reader;
}

type SourcesContext = Pick<BaseContext, "cache" | "liquid" | "sql">;

export type Sources = ReturnType<typeof createSources>;

export function createSources(ctx: SourcesContext, builtIn: ReadonlyMap<string, BuiltIn>) {
  // By account and code: the candidates of the code and of its `_extra`, from which the cascade chooses for each person.
  const candidates = ctx.cache<readonly Candidate[]>({
    name: "prompts.candidates",
    max: 5000,
    load: (key) => {
      const { accountId, name: code } = parseCacheKey(key);
      return candidatesOf(ctx.sql, accountId, [code, code + suffix]);
    },
  });
  const storedSource = storedSources(ctx);
  const builtInSource = builtInSources(ctx, builtIn);

  const rowsOf = async ({ account }: ReaderHere, code: string) => {
    const key = cacheKey(account.id, code);
    return candidates.peek(key) ?? (await candidates.get(key)) ?? [];
  };

  const sourceOf = async (rows: readonly Candidate[], code: string, { account, user }: ReaderHere) => {
    const withCode = rows.filter((candidate) => candidate.code === code);
    const row = firstOf(withCode, user);
    return row ? storedSource(account.id, row) : builtInSource(code);
  };

  const resolve = async (caller: ReaderHere, code: string) => {
    const rows = await rowsOf(caller, code);
    const main = await sourceOf(rows, code, caller);
    // An `_extra` alone is not a prompt (behaviour B.5).
    if (!main) throw notFound();
    return { main, addition: await sourceOf(rows, code + suffix, caller) };
  };

  /** If a prompt was deleted between two look-ups, all are repeated once. */
  const current = <T>({ account }: ReaderHere, code: string, look: () => Promise<T>): Promise<T> =>
    look().catch(async (error: unknown) => {
      if (!(error instanceof Gone)) throw error;
      await candidates.invalidate(cacheKey(account.id, code));
      return look().catch((again: unknown) => {
        throw again instanceof Gone ? notFound() : again;
      });
    });

  return {
    /** The prompt that this person gets for the code, and what is appended to it. Throws the 404. */
    find: (caller: ReaderHere, code: string) => current(caller, code, () => resolve(caller, code)),

    /** The same without what is appended, also for an `_extra` alone; undefined if there is none. */
    one: (caller: ReaderHere, code: string) =>
      current(caller, code, async () => sourceOf(await rowsOf(caller, code), code, caller)),

    /** After a change has committed, before its answer. */
    async forget(accountId: number, codes: readonly string[]): Promise<void> {
      const all = new Set(codes.flatMap((code) => [code, extendedCode(code) ?? code]));
      await Promise.all([...all].map((code) => candidates.invalidate(cacheKey(accountId, code))));
    },
  };
}

/** Cached by account, id and version, so that a cached value never changes. */
function storedSources(ctx: SourcesContext) {
  const sources = ctx.cache<Source>({
    name: "prompts.sources",
    max: 300,
    load: async (key) => {
      const { accountId, name } = parseCacheKey(key);
      const [id = "", version] = name.split(":");
      const row = await contentOf(ctx.sql, accountId, id, Number(version));
      return row && { name: row.name, kind: row.kind, ...parsedOf(ctx, row.content) };
    },
  });
  return async (accountId: number, { id, version }: Candidate): Promise<Source> => {
    const key = cacheKey(accountId, `${id}:${version}`);
    const source = sources.peek(key) ?? (await sources.get(key));
    if (!source) throw new Gone();
    return source;
  };
}

/** Parsed on first use. */
function builtInSources(ctx: SourcesContext, builtIn: ReadonlyMap<string, BuiltIn>) {
  const parsed = new Map<string, Source>();
  return (code: string): Source | undefined => {
    const known = parsed.get(code);
    const file = known ? undefined : builtIn.get(code);
    if (!file) return known;
    const source = { name: file.name, kind: file.kind, ...parsedOf(ctx, file.text) };
    parsed.set(code, source);
    return source;
  };
}

const parsedOf = ({ liquid }: Pick<BaseContext, "liquid">, content: string) => ({
  template: liquid.parse(content),
  variables: variablesIn(liquid, content),
});

/** The version to be rendered no longer exists. */
class Gone extends Error {}

/** A parameter never replaces what the server fills in. `now` dates the prompt in the account's time zone. */
export function variablesOf(
  { baseUrl, timezone }: Pick<Account, "baseUrl" | "timezone">,
  query: Iterable<readonly [string, unknown]>,
  token: string,
  now = new Date(),
): Record<string, unknown> {
  const variables: Record<string, unknown> = Object.assign(Object.create(null), { date: dateIn(timezone, now) });
  for (const [name, value] of query) {
    if (name !== "date" || value !== "") variables[name] = value;
  }
  return Object.assign(variables, filledIn(baseUrl, token));
}

function filledIn(baseUrl: string, token: string) {
  return { TOKEN: token, api_token: token, ACCOUNT_URL: baseUrl, account_url: baseUrl, base_url: baseUrl };
}

const filledNames: ReadonlySet<string> = new Set(Object.keys(filledIn("", "")));

/** Variables of a content that a parameter can set. */
export function variablesIn(liquid: BaseContext["liquid"], content: string): string[] {
  const names = liquid.variablesOf(content).map((path) => path.split(/[.[]/, 1)[0] ?? "");
  return [...new Set(names)].filter((name) => name !== "" && !filledNames.has(name)).slice(0, mostVariables);
}

const mostVariables = 100;

const calendars = new Map<string, Intl.DateTimeFormat>();

/** `2026-01-31` in that time zone. */
function dateIn(timeZone: string, now: Date): string {
  let calendar = calendars.get(timeZone);
  if (!calendar) {
    calendar = new Intl.DateTimeFormat("en-CA", { timeZone, year: "numeric", month: "2-digit", day: "2-digit" });
    calendars.set(timeZone, calendar);
  }
  return calendar.format(now);
}

/** For people who write prompts. The other names are kept for old prompts. */
export const documentedVariables = [
  { name: "TOKEN", about: "the token of the person who runs the prompt" },
  { name: "ACCOUNT_URL", about: "the address of the account" },
  { name: "date", about: "the parameter date, by default today" },
] as const;
