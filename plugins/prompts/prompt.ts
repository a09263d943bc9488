/** A prompt: what it is to others, and how it is made and changed. behaviour 2.1, B.5. */
import { change, column, create, credentialOf, field, filter, forbidden, found, invalid, resource } from "platform";
import type { At, BaseContext, Caller, Change, Changed, DraftOf, NewOf, PatchOf, Ref, RowOf, Tx } from "platform";
import type { Accounts } from "../accounts/api.ts";
import type { BuiltIn } from "./built-in.ts";
import { extendedCode, mayWrite, scopeAfter, isSameScope, scopes, suffix } from "./cascade.ts";
import type { OwnedPrompt, PromptScope } from "./cascade.ts";
import { checkTexts } from "./preview.ts";
import { aiPlaceholder, keepVersion, shared, visibleTo } from "./store.ts";

const { choice, id, jsonb, text, usual } = column;

export const maxContent = 200_000;
export const ifMatch = 'With `If-Match: "<etag>"`: 412 if that version is no longer the latest.';

const fields = {
  name: text({ ...usual.name, body: field.name(), example: "New work entry" }),
  code: column.code({
    label: ["Short name", "Nazwa techniczna", "Technischer Name"],
    help: [
      "A prompt with the name of a built-in one replaces it. Letters, digits, - and _.",
      "Prompt o nazwie wbudowanego zastępuje go. Litery, cyfry, - i _.",
      "Ein Prompt mit dem Namen eines eingebauten ersetzt diesen. Buchstaben, Ziffern, - und _.",
    ],
    body: field.code(),
    from: "name",
    otherwise: "prompt",
    example: "workinfo_new",
  }),
  content: text({
    label: ["Content", "Treść", "Inhalt"],
    help: [
      "Markdown. {{ name }} stands for a value that is filled in when it is used.",
      "Markdown. {{ name }} oznacza wartość, która jest wstawiana przy użyciu.",
      "Markdown. {{ name }} steht für einen Wert, der bei der Verwendung eingesetzt wird.",
    ],
    body: field.name(maxContent),
    example: 'Write an entry for the client {{ client_id }}.\n\n{{ "apps_api" | api_block }}',
  }),
  kind: choice(["chat", "agent"], {
    label: ["Used for", "Zastosowanie", "Verwendung"],
    choices: { chat: ["Conversation", "Rozmowa", "Gespräch"], agent: ["AI agent", "Agent AI", "KI-Agent"] },
    blank: "chat",
  }),
  scope: choice(scopes, {
    label: ["Who gets it", "Kto go dostaje", "Wer ihn bekommt"],
    help: [
      "The narrowest one counts: a person's own before that of everyone.",
      "Liczy się najwęższy: własny prompt osoby przed promptem dla wszystkich.",
      "Der engste gilt: der eigene einer Person vor dem für alle.",
    ],
    choices: {
      user: ["One person", "Jedna osoba", "Eine Person"],
      team: ["One team", "Jeden zespół", "Ein Team"],
      department: ["One department", "Jeden dział", "Eine Abteilung"],
      account: ["Everyone", "Wszyscy", "Alle"],
    },
    body: field.oneOf(scopes),
    by: "check",
    blank: "account",
  }),
  scope_id: id({
    label: ["Whose it is", "Czyj jest", "Wem er gehört"],
    help: ["Empty if everyone gets it.", "Puste, gdy dostają go wszyscy.", "Leer, wenn alle ihn bekommen."],
    body: field.nullable(field.id()),
    by: "check",
    orNull: true,
  }),
  /** Kept in `fields`. */
  ai_placeholder: text({
    label: ["Hint in the AI dialog", "Podpowiedź w oknie AI", "Hinweis im KI-Dialog"],
    help: ["For example: What was done?", "Na przykład: Co zrobiono?", "Zum Beispiel: Was wurde getan?"],
    body: field.line(1000),
    by: "server",
    quiet: false,
    from: aiPlaceholder,
    orNull: true,
    example: "What was done?",
  }),
  fields: jsonb({
    label: ["Other values", "Inne wartości", "Weitere Werte"],
    by: "check",
    example: { ai_placeholder: "What was done?" },
  }),
  created_by_id: id({ label: ["Author", "Autor", "Angelegt von"], by: "check", example: 1 }),
  updated_by_id: id({ label: ["Last change by", "Autor zmiany", "Geändert von"], by: "check", orNull: true }),
  /** Assigned at creation and never shown. */
  token: text({ by: "check", hidden: true }),
};

export type PromptRow = RowOf<typeof fields, "uuid">;
type PromptPatch = PatchOf<typeof fields>;
type PromptChange = Change<typeof fields, "uuid">;
type WrittenPrompt = Changed<typeof fields, "uuid">;

interface PromptContext extends Omit<At, "caller">, Pick<BaseContext, "liquid"> {
  readonly accounts: Pick<Accounts, "person" | "unitExists">;
  readonly builtIn: ReadonlyMap<string, BuiltIn>;
  /** Called after the commit and before the answer, with the codes whose cascades have changed. */
  readonly forget: (accountId: number, codes: readonly string[]) => Promise<void>;
}

export interface PromptAt extends PromptContext, Pick<At, "caller"> {
  /** No text may contain its token. */
  readonly request: Request;
  /** The row that `changePrompt` has checked the change against. */
  readonly seen?: PromptRow;
}

/** Moved or renamed meanwhile, so the checks before the transaction must be repeated. */
class Outdated extends Error {}

export const Prompt = resource("prompt", {
  table: "prompts",
  path: "/core/prompts",
  id: "uuid",
  privilege: "prompts",
  model: "Core::Prompt",
  events: true,
  authors: [],
  fields,
  filters: {
    q: filter.searching(["name", "code"], "searches name and code; `*` and `%` are wildcards"),
    code: filter.exact(),
    kind: filter.exact(),
    scope: filter.exact(),
  },
  orders: ["id", "created_at", "updated_at", "name", "code"],
  visible: ({ caller }, sql) => visibleTo(sql, caller.user),
  check,
  async mayErase(at: PromptAt, row, tx) {
    await mustBeWritable(at, row, tx);
    await mustLeaveNoExtra(at, row, tx);
  },
  async changed(_, { after }, tx) {
    if (after) await keepVersion(tx, after);
  },
  committed: ({ forget, caller }, { before, after }: WrittenPrompt) =>
    forget(
      caller.account.id,
      [before, after].flatMap((row) => (row ? [row.code] : [])),
    ),
  example: { id: "0198c5d2-7a1b-7c3d-8e4f-5a6b7c8d9e0f" },
  request: ["name", "code", "content", "kind", "ai_placeholder"],
  change: { name: "Work entry" },
  changes: { updated_by_id: 1 },
  docs: {
    list: {
      summary: "List stored prompts",
      description: "The account's, your own, and those of your teams and departments; administrators see all.",
    },
    create: {
      summary: "Create a prompt",
      description:
        "The default scope is `account`. `user` without a `scope_id` is your own; `team` and `department` require one. " +
        "A prompt with the code of a built-in one replaces it; without a `code` it is made of the name.",
      refusals: { 422: { code: ["is already taken"] } },
    },
    change: { description: ifMatch },
    delete: {
      summary: "Delete a prompt with its versions",
      description: `A built-in prompt with the same code applies again. ${ifMatch}`,
      refusals: { 422: { code: ["your prompt books_extra adds to it: delete or rename that first"] } },
    },
  },
});

export async function createPrompt(at: PromptAt, given: NewOf<typeof fields>): Promise<PromptRow> {
  const scoped = scopeAfter(undefined, given, at.caller.user.id);
  checkTexts(given, at.liquid, tokenOf(at.request));
  await mustExist(at, scoped);
  return create(Prompt, at, given);
}

/** `expected` is the version that the caller has seen; undefined = any. */
export async function changePrompt(
  at: PromptAt,
  ref: Ref<"uuid">,
  given: PromptPatch,
  expected: (id: string) => number | undefined,
): Promise<{ before: PromptRow; after: PromptRow }> {
  checkTexts(given, at.liquid, tokenOf(at.request));
  for (;;) {
    const seen = await found(Prompt, at, ref);
    await mustBeWritable(at, seen);
    const scoped = scopeAfter(seen, given, at.caller.user.id);
    if (!isSameScope(scoped, seen)) await mustExist(at, scoped);
    try {
      return await change(Prompt, { ...at, seen }, ref, given, expected);
    } catch (error) {
      if (!(error instanceof Outdated)) throw error;
    }
  }
}

/** The token of a request. */
export function tokenOf({ headers }: Request): string {
  return credentialOf(headers)?.token ?? "";
}

async function check(at: PromptAt, { tx, given, before, after }: PromptChange): Promise<DraftOf<typeof fields>> {
  const { seen, caller } = at;
  if (before && !(seen && isSameScope(before, seen) && before.code === seen.code)) throw new Outdated();
  const userId = caller.user.id;
  const placeholder = given.ai_placeholder === undefined ? {} : { ai_placeholder: given.ai_placeholder };
  const draft = {
    ...after,
    ...scopeAfter(before, given, userId),
    // Unknown keys are kept.
    fields: { ...before?.fields, ...placeholder },
    createdById: before?.createdById ?? userId,
    updatedById: before ? userId : null,
    token: before?.token ?? crypto.getRandomValues(new Uint8Array(24)).toHex(),
  };
  await mustBeWritable(at, draft, tx);
  if (before && !(isSameScope(draft, before) && draft.code === before.code)) await mustLeaveNoExtra(at, before, tx);
  return draft;
}

async function mustBeWritable({ sql, builtIn, caller }: PromptAt, prompt: OwnedPrompt, tx?: Tx): Promise<void> {
  const extended = extendedCode(prompt.code);
  const bases = extended === undefined ? [] : await shared(tx ?? sql, caller.account.id, extended);
  if (mayWrite(prompt, caller.user, (code) => builtIn.has(code), bases)) return;
  const why =
    extended === undefined ? "" : `: adding to \`${extended}\` takes a manager, or the creator of that prompt`;
  throw forbidden(`you may not write this prompt of the scope \`${prompt.scope}\`${why}`);
}

/** One's own `_extra` must not stay without its prompt, because it would add to the next prompt with that code. */
async function mustLeaveNoExtra({ caller }: { caller: Caller }, { scope, code }: OwnedPrompt, tx: Tx): Promise<void> {
  const { account, user } = caller;
  if (scope === "user" || user.role === "admin" || user.role === "manager") return;
  const left = await shared(tx, account.id, `${code}${suffix}`);
  if (left.some(({ createdById }) => createdById === user.id))
    throw invalid({ code: [`your prompt ${code}${suffix} adds to it: delete or rename that first`] });
}

async function mustExist({ accounts, caller }: PromptAt, { scope, scopeId }: PromptScope): Promise<void> {
  if (scope === "account" || scopeId === null) return;
  const exists =
    scope === "user"
      ? (await accounts.person(caller.account.id, scopeId)) !== undefined
      : await accounts.unitExists(caller.account.id, scope, scopeId);
  if (!exists) throw invalid({ scope_id: [`names no ${scope} of this account`] });
}
