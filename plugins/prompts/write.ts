/** Making, changing and deleting prompts: who may, where to, and what follows from it. */
import {
  forbidden,
  invalid,
  notFound,
  preconditionFailed,
  uuidv7,
  type BaseContext,
  type Caller,
  type Tx,
} from "platform";
import type { Accounts } from "../accounts/api.ts";
import type { BuiltIn } from "./built-in.ts";
import type { Place, Scope } from "./cascade.ts";
import { checkTexts } from "./check.ts";
import { extendedCode, mayWrite, suffix, type Owned } from "./permission.ts";
import { placeAfter, samePlace } from "./place.ts";
import { toApi, type Kind, type PromptRow, type PromptStore, type Saved } from "./store.ts";

/** The fields of a request; each may be missing. */
export interface PromptChange {
  readonly name?: string;
  readonly code?: string;
  readonly content?: string;
  readonly kind?: Kind;
  readonly scope?: Scope;
  readonly scope_id?: number | null;
  readonly ai_placeholder?: string | null;
}

export type NewPrompt = PromptChange & Required<Pick<PromptChange, "name" | "code" | "content">>;

/** Who writes, and the token that the request carries: no text may hold it. */
export interface Author {
  readonly caller: Caller;
  readonly token: string;
}

export interface Needed {
  readonly ctx: Pick<BaseContext, "transaction" | "changed" | "liquid">;
  readonly store: PromptStore;
  readonly accounts: Accounts;
  readonly builtIn: ReadonlyMap<string, BuiltIn>;
  /** After the commit, before the answer: the cascades of these codes have changed. */
  readonly forget: (accountId: number, codes: readonly string[]) => Promise<void>;
}

export type Writing = ReturnType<typeof createWriting>;

export function createWriting({ ctx, store, accounts, builtIn, forget }: Needed) {
  const mustBeWritable = async ({ account, user }: Caller, prompt: Owned, tx?: Tx): Promise<void> => {
    const extended = extendedCode(prompt.code);
    const bases = extended === undefined ? [] : await store.shared(account.id, extended, tx);
    if (mayWrite(prompt, user, (code) => builtIn.has(code), bases)) return;
    const why = extended === undefined ? "" : `: what adds to \`${extended}\` takes a manager, or whoever made that`;
    throw forbidden(`you may not write this prompt of the scope \`${prompt.scope}\`${why}`);
  };

  /** Throws the 422 where one's own `_extra` would stay without its prompt: it would add to the next one's of that code. */
  const mustLeaveNoExtra = async ({ account, user }: Caller, { scope, code }: PromptRow, tx: Tx): Promise<void> => {
    if (scope === "user" || user.role === "admin" || user.role === "manager") return;
    const left = await store.shared(account.id, `${code}${suffix}`, tx);
    if (left.some(({ createdById }) => createdById === user.id))
      throw invalid({ code: [`${code}${suffix} of yours adds to it: delete or rename that first`] });
  };

  const mustExist = async (accountId: number, { scope, scopeId }: Place): Promise<void> => {
    if (scope === "account" || scopeId === null) return;
    const exists =
      scope === "user"
        ? (await accounts.person(accountId, scopeId)) !== undefined
        : await accounts.unitExists(accountId, scope, scopeId);
    if (!exists) throw invalid({ scope_id: [`names no ${scope} of this account`] });
  };

  const find = async ({ account, user }: Caller, id: string): Promise<PromptRow> => {
    const row = await store.byId(account.id, user, id);
    if (!row) throw notFound();
    return row;
  };

  const create = async ({ caller, token }: Author, given: NewPrompt): Promise<PromptRow> => {
    const { account, user } = caller;
    const place = placeAfter(undefined, given, user.id);
    checkTexts(given, ctx.liquid, token);
    await mustExist(account.id, place);
    await mustBeWritable(caller, { ...place, code: given.code, createdById: user.id });
    const prompt: Saved = { ...blank, ...merged(blank, given), ...place };
    const row = await ctx.transaction(async (tx) => {
      const made = await store.insert(tx, account.id, uuidv7(), secretToken(), user.id, prompt);
      await ctx.changed(changeOf(account.id, "create", made), tx);
      return made;
    });
    await forget(account.id, [row.code]);
    return row;
  };

  /** `expected` is the version that the caller has seen; undefined = whichever. */
  const update = async (author: Author, id: string, given: PromptChange, expected?: number): Promise<PromptRow> => {
    const { account, user } = author.caller;
    checkTexts(given, ctx.liquid, author.token);
    for (;;) {
      const before = await find(author.caller, id);
      await mustBeWritable(author.caller, before);
      const place = placeAfter(before, given, user.id);
      if (!samePlace(place, before)) await mustExist(account.id, place);
      const after = { ...before, ...merged(before, given), ...place };
      await mustBeWritable(author.caller, after);
      const saved = await ctx.transaction(async (tx) => {
        const locked = await store.lock(tx, account.id, user, id);
        if (!locked) throw notFound();
        if (expected !== undefined && locked.version !== expected) throw preconditionFailed();
        // Moved or renamed meanwhile: what was found out about it before no longer holds.
        if (!samePlace(locked, before) || locked.code !== before.code) return undefined;
        if (!samePlace(after, before) || after.code !== before.code) await mustLeaveNoExtra(author.caller, before, tx);
        const row = await store.update(tx, account.id, id, user.id, { ...merged(locked, given), ...place });
        await ctx.changed(changeOf(account.id, "update", row), tx);
        return row;
      });
      if (!saved) continue;
      await forget(account.id, [before.code, saved.code]);
      return saved;
    }
  };

  const remove = async (caller: Caller, id: string, expected?: number): Promise<void> => {
    const { account, user } = caller;
    const code = await ctx.transaction(async (tx) => {
      const row = await store.lock(tx, account.id, user, id);
      if (!row) throw notFound();
      await mustBeWritable(caller, row, tx);
      await mustLeaveNoExtra(caller, row, tx);
      if (expected !== undefined && row.version !== expected) throw preconditionFailed();
      await store.delete(tx, account.id, id);
      await ctx.changed(changeOf(account.id, "destroy", row), tx);
      return row.code;
    });
    await forget(account.id, [code]);
  };

  /** Saves what an earlier version was, as a new one. */
  const restore = async (author: Author, id: string, version: number, expected?: number): Promise<PromptRow> => {
    const { account, user } = author.caller;
    await find(author.caller, id);
    const old = await store.version(account.id, user, id, version);
    if (!old) throw notFound();
    const { name, code, content, kind, scope, scopeId, fields } = old;
    const placeholder = fields["ai_placeholder"];
    const ai_placeholder = typeof placeholder === "string" ? placeholder : null;
    return update(author, id, { name, code, content, kind, scope, scope_id: scopeId, ai_placeholder }, expected);
  };

  return { find, create, update, remove, restore };
}

const blank: Omit<Saved, "scope" | "scopeId"> = { name: "", code: "", content: "", kind: "chat", fields: {} };

/** Everything but the place. Keys of `fields` that are not ours are kept. */
function merged<P extends typeof blank>(before: P, given: PromptChange): P {
  const { name, code, content, kind, ai_placeholder } = given;
  return {
    ...before,
    ...(name !== undefined && { name }),
    ...(code !== undefined && { code }),
    ...(content !== undefined && { content }),
    ...(kind !== undefined && { kind }),
    ...(ai_placeholder !== undefined && { fields: { ...before.fields, ai_placeholder } }),
  };
}

function changeOf(accountId: number, kind: "create" | "update" | "destroy", row: PromptRow) {
  return { accountId, sourceType: "Core::Prompt", kind, id: row.id, data: toApi(row) };
}

function secretToken(): string {
  return crypto.getRandomValues(new Uint8Array(24)).toHex();
}
