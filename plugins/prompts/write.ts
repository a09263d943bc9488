/** Creates, changes and deletes prompts, and tells others. */
import { notFound, preconditionFailed, uuidv7, type BaseContext, type Caller } from "platform";
import type { Scope } from "./cascade.ts";
import { checkTexts } from "./check.ts";
import type { Guard } from "./guard.ts";
import { placeAfter, samePlace } from "./place.ts";
import { toApi, type Kind, type PromptRow, type PromptStore, type Saved } from "./store.ts";
import type { VersionStore } from "./version-store.ts";

/** The fields of a request, all optional. */
export interface PromptPatch {
  readonly name?: string;
  readonly code?: string;
  readonly content?: string;
  readonly kind?: Kind;
  readonly scope?: Scope;
  readonly scope_id?: number | null;
  readonly ai_placeholder?: string | null;
}

export type NewPrompt = PromptPatch & Required<Pick<PromptPatch, "name" | "code" | "content">>;

/** Who writes, and the token of the request, which no text may contain. */
export interface Author {
  readonly caller: Caller;
  readonly token: string;
}

interface Needed {
  readonly ctx: Pick<BaseContext, "transaction" | "changed" | "liquid">;
  readonly promptStore: PromptStore;
  readonly versionStore: Pick<VersionStore, "find">;
  readonly guard: Guard;
  /** Called after the commit and before the answer, with the codes whose cascades have changed. */
  readonly forget: (accountId: number, codes: readonly string[]) => Promise<void>;
}

export type PromptWriter = ReturnType<typeof createPromptWriter>;

export function createPromptWriter({ ctx, promptStore, versionStore, guard, forget }: Needed) {
  const find = async ({ account, user }: Caller, id: string): Promise<PromptRow> => {
    const row = await promptStore.byId(account.id, user, id);
    if (!row) throw notFound();
    return row;
  };

  const create = async ({ caller, token }: Author, given: NewPrompt): Promise<PromptRow> => {
    const { account, user } = caller;
    const place = placeAfter(undefined, given, user.id);
    checkTexts(given, ctx.liquid, token);
    await guard.mustExist(account.id, place);
    await guard.mustBeWritable(caller, { ...place, code: given.code, createdById: user.id });
    const prompt: Saved = { ...blank, ...merged(blank, given), ...place };
    const row = await ctx.transaction(async (tx) => {
      const made = await promptStore.insert(tx, account.id, uuidv7(), secretToken(), user.id, prompt);
      await ctx.changed(eventOf(account.id, "create", made), tx);
      return made;
    });
    await forget(account.id, [row.code]);
    return row;
  };

  /** `expected` is the version that the caller has seen; undefined = any. */
  const update = async (author: Author, id: string, given: PromptPatch, expected?: number): Promise<PromptRow> => {
    const { account, user } = author.caller;
    checkTexts(given, ctx.liquid, author.token);
    for (;;) {
      const before = await find(author.caller, id);
      await guard.mustBeWritable(author.caller, before);
      const place = placeAfter(before, given, user.id);
      if (!samePlace(place, before)) await guard.mustExist(account.id, place);
      const after = { ...before, ...merged(before, given), ...place };
      await guard.mustBeWritable(author.caller, after);
      const saved = await ctx.transaction(async (tx) => {
        const locked = await promptStore.lock(tx, account.id, user, id);
        if (!locked) throw notFound();
        if (expected !== undefined && locked.version !== expected) throw preconditionFailed();
        // Moved or renamed meanwhile, so the checks above must be repeated.
        if (!samePlace(locked, before) || locked.code !== before.code) return undefined;
        if (!samePlace(after, before) || after.code !== before.code)
          await guard.mustLeaveNoExtra(author.caller, before, tx);
        const row = await promptStore.update(tx, account.id, id, user.id, { ...merged(locked, given), ...place });
        await ctx.changed(eventOf(account.id, "update", row), tx);
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
      const row = await promptStore.lock(tx, account.id, user, id);
      if (!row) throw notFound();
      await guard.mustBeWritable(caller, row, tx);
      await guard.mustLeaveNoExtra(caller, row, tx);
      if (expected !== undefined && row.version !== expected) throw preconditionFailed();
      await promptStore.delete(tx, account.id, id);
      await ctx.changed(eventOf(account.id, "destroy", row), tx);
      return row.code;
    });
    await forget(account.id, [code]);
  };

  /** Saves an earlier version as a new one. */
  const restore = async (author: Author, id: string, version: number, expected?: number): Promise<PromptRow> => {
    const { account, user } = author.caller;
    await find(author.caller, id);
    const old = await versionStore.find(account.id, user, id, version);
    if (!old) throw notFound();
    const { name, code, content, kind, scope, scopeId, fields } = old;
    const placeholder = fields["ai_placeholder"];
    const ai_placeholder = typeof placeholder === "string" ? placeholder : null;
    return update(author, id, { name, code, content, kind, scope, scope_id: scopeId, ai_placeholder }, expected);
  };

  return { find, create, update, remove, restore };
}

const blank: Omit<Saved, "scope" | "scopeId"> = { name: "", code: "", content: "", kind: "chat", fields: {} };

/** All fields except the place. Unknown keys of `fields` are kept. */
function merged<P extends typeof blank>(before: P, given: PromptPatch): P {
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

function eventOf(accountId: number, kind: "create" | "update" | "destroy", row: PromptRow) {
  return { accountId, sourceType: "Core::Prompt", kind, id: row.id, data: toApi(row) };
}

function secretToken(): string {
  return crypto.getRandomValues(new Uint8Array(24)).toHex();
}
