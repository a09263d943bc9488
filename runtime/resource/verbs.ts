/** Makes, changes and deletes rows of a resource: each in a transaction, by its rules, with the tag that the caller has seen. */
import type { Fragment, Tx } from "../db/db.ts";
import { mistakes, notFound } from "../base/errors.ts";
import { freeCode } from "../db/free-code.ts";
import { mustMatch } from "../http/answers/etag.ts";
import { slugOf } from "../base/text.ts";
import { integerId, isUuid, uuidOf, uuidv7 } from "../base/values.ts";
import type { IdKind, IdOf, ShownOf } from "./fields.ts";
import type {
  AfterCommit,
  Change,
  Changed,
  Draft,
  Given,
  Id,
  New,
  Patch,
  Resource,
  Row,
  Shape,
} from "./declaration.ts";
import { find, insert, lock, nextId, remove, update, type Ref } from "./store.ts";

export interface WrittenRow<T extends Shape> {
  readonly before: Row<T>;
  readonly after: Row<T>;
}

/** The version of the row with this id that the caller has seen; undefined = any. */
export type Expected<T extends Shape> = (id: Id<T>) => number | undefined;

const whichever = (): undefined => undefined;

/** The id in a part of an address; 404 if it is not an id. */
export function refOf<I extends IdKind>(
  { id, byCode, missing }: { readonly id: I; readonly byCode?: true | string; readonly missing?: string },
  text: string,
): Ref<I> {
  if (byCode && !(id === "uuid" ? isUuid(text) : /^\d+$/.test(text))) {
    if (!/^[A-Za-z0-9._-]{1,100}$/.test(text)) throw notFound(missing);
    return { code: text };
  }
  return { id: (id === "uuid" ? uuidOf(text, missing) : integerId(text, missing)) as IdOf<I> }; // the kind decides the type
}

/** A condition for the rows that the caller may see. */
export function seen<T extends Shape>(of: Resource<T>, at: T["at"], query?: URLSearchParams): Fragment[] {
  return of.visible ? [at.sql`and ${of.visible(at, at.sql, query)}`] : [];
}

/** The row, or 404. */
export async function found<T extends Shape>(of: Resource<T>, at: T["at"], ref: Ref<T["id"]>): Promise<Row<T>> {
  return there(of, await find(of, at.sql, at.caller.account.id, ref, seen(of, at)));
}

export async function create<T extends Shape>(of: Resource<T>, at: T["at"], given: New<T>): Promise<Row<T>> {
  of.may?.(at, "create");
  const { row, afterCommit } = await at.transaction(async (tx) => {
    await of.begin?.(at, tx);
    const id = await idFor(of, tx);
    const after = await withCode(of, at, tx, given, merged(of, at, id, given, undefined));
    const draft = await checked(of, at, { tx, id, given, before: undefined, after });
    const made = await whole(of, at, tx, await insert(of, tx, at.caller, id, draft), draft);
    return { row: made, afterCommit: await written(of, at, { before: undefined, after: made }, tx) };
  });
  await at.committed(afterCommit);
  return row;
}

/** The row before and after. */
export async function change<T extends Shape>(
  of: Resource<T>,
  at: T["at"],
  ref: Ref<T["id"]>,
  given: Patch<T>,
  expected: Expected<T> = whichever,
): Promise<WrittenRow<T>> {
  return edit(of, at, ref, () => given, expected);
}

/** A change that is made of the row as it is, locked. */
export async function edit<T extends Shape>(
  of: Resource<T>,
  at: T["at"],
  ref: Ref<T["id"]>,
  work: (before: Row<T>) => Patch<T>,
  expected: Expected<T> = whichever,
): Promise<WrittenRow<T>> {
  of.may?.(at, "change");
  const { both, afterCommit } = await at.transaction(async (tx) => {
    await of.begin?.(at, tx);
    const held = await locked(of, at, tx, ref, expected);
    const given = work(held);
    const after = merged(of, at, held.id, given, held);
    const draft = await checked(of, at, { tx, id: held.id, given, before: held, after });
    const updated = await whole(of, at, tx, await update(of, tx, at.caller, held.id, draft), draft);
    const done = { before: held, after: updated };
    return { both: done, afterCommit: await written(of, at, done, tx) };
  });
  await at.committed(afterCommit);
  return both;
}

/** The row that was. */
export async function erase<T extends Shape>(
  of: Resource<T>,
  at: T["at"],
  ref: Ref<T["id"]>,
  expected: Expected<T> = whichever,
): Promise<Row<T>> {
  of.may?.(at, "delete");
  const { before, afterCommit } = await at.transaction(async (tx) => {
    await of.begin?.(at, tx);
    const held = await locked(of, at, tx, ref, expected);
    await of.mayErase?.(at, held, tx);
    const afterDeletion = await written(of, at, { before: held, after: undefined }, tx);
    await remove(of, tx, at.caller.account.id, held.id);
    return { before: held, afterCommit: afterDeletion };
  });
  await at.committed(afterCommit);
  return before;
}

/** A row as lists show it; its type is made of the same fields. */
export function toApi<T extends Shape>(of: Resource<T>, row: Row<T>): ShownOf<T["fields"], T["id"]>;
export function toApi(of: Pick<Resource<Shape>, "shows">, row: object): Record<string, unknown>;
export function toApi({ shows }: Pick<Resource<Shape>, "shows">, row: object): Record<string, unknown> {
  const shown: Record<string, unknown> = {};
  for (const [name, key] of shows) shown[name] = Reflect.get(row, key);
  return shown;
}

/** Locked, in the version that the caller has seen: 404, 412. */
export async function locked<T extends Shape>(
  of: Resource<T>,
  at: T["at"],
  tx: Tx,
  ref: Ref<T["id"]>,
  expected: Expected<T> = whichever,
): Promise<Row<T>> {
  const row = there(of, await lock(of, tx, at.caller.account.id, ref, seen(of, at)));
  mustMatch(row, expected(row.id));
  return row;
}

async function checked<T extends Shape>(
  of: Resource<T>,
  at: T["at"],
  asked: Change<T["fields"], T["id"]>,
): Promise<Draft<T>> {
  const wrong = mistakes();
  // Without a `check` there is nothing that it alone writes.
  const draft = of.check ? await of.check(at, asked, wrong) : (asked.after as Draft<T>);
  wrong.check();
  return draft;
}

/** The row with what other tables keep of it. */
async function whole<T extends Shape>(
  of: Resource<T>,
  at: T["at"],
  tx: Tx,
  row: Row<T>,
  draft: Draft<T>,
): Promise<Row<T>> {
  if (!of.elsewhere) return row;
  await of.elsewhere(at, row.id, draft, tx);
  return there(of, await find(of, tx, at.caller.account.id, { id: row.id }));
}

/** In the transaction: what the resource does beside, and its event. Returns what is to be done after the commit. */
async function written<T extends Shape>(
  of: Resource<T>,
  at: T["at"],
  both: Changed<T["fields"], T["id"]>,
  tx: Tx,
): Promise<AfterCommit> {
  const afterCommit = await of.changed?.(at, both, tx);
  const row = both.after ?? both.before;
  const more = row && of.derivedInLists ? await of.derive?.(at, row) : {};
  if (row) await announce(of, at, !both.before ? "create" : both.after ? "update" : "destroy", row, tx, more);
  return async () => {
    await of.committed?.(at, both);
    await afterCommit?.();
  };
}

/** Emits the event of a row, if its changes are events. */
export async function announce<T extends Shape>(
  of: Resource<T>,
  { changed }: Pick<T["at"], "changed">,
  kind: string,
  row: Row<T>,
  tx: Tx,
  derived: object = {},
): Promise<void> {
  const { events, model: sourceType } = of;
  if (!events || (events !== true && !events(row))) return;
  await changed(
    { accountId: row.accountId, sourceType, kind, id: row.id, data: { ...toApi(of, row), ...derived } },
    tx,
  );
}

async function idFor<T extends Shape>(of: Resource<T>, tx: Tx): Promise<Id<T>> {
  return (of.id === "uuid" ? uuidv7() : await nextId(of, tx)) as Id<T>; // the kind decides the type
}

/** Fields that are left out stay; null is the blank value where a column cannot be null. */
export function merged<T extends Shape>(
  of: Resource<T>,
  { secrets }: Pick<T["at"], "secrets">,
  id: Id<T>,
  given: Patch<T>,
  before: Row<T> | undefined,
): Given<T> {
  const asked: Readonly<Record<string, unknown>> = given;
  const stored: Readonly<Record<string, unknown>> | undefined = before;
  const draft: Record<string, unknown> = {};
  for (const { name, key, info, field } of of.each) {
    const { by, blank, orNull, sealing, madeOf } = field;
    if (by !== "people") continue;
    const value = asked[name];
    const kept = stored ? stored[key] : blank;
    if (sealing) {
      draft[key] = value === undefined ? kept : isText(value) ? secrets.seal(value, sealing.place(id)) : null;
      const told = isText(value) ? (sealing.info?.(value) ?? null) : null;
      if (info) draft[info.key] = value === undefined ? (stored?.[info.key] ?? null) : told;
    } else if (madeOf) draft[key] = isText(value) ? value : kept;
    else draft[key] = value === undefined ? kept : value === null && !orNull ? blank : value;
  }
  return draft as Given<T>; // its type is made of the same fields
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

/** A new row's code, made of another field where none is given. */
async function withCode<T extends Shape>(
  of: Resource<T>,
  at: T["at"],
  tx: Tx,
  given: Patch<T>,
  draft: Given<T>,
): Promise<Given<T>> {
  const asked: Readonly<Record<string, unknown>> = given;
  let done = draft;
  for (const { name, key, field } of of.each) {
    const { madeOf } = field;
    if (!madeOf || asked[name]) continue;
    const from = asked[madeOf.field];
    const base = (typeof from === "string" && slugOf(from)) || madeOf.otherwise;
    const code = await freeCode(tx, { table: of.table, column: name, accountId: at.caller.account.id }, base);
    done = { ...done, [key]: code };
  }
  return done;
}

function there<R>({ missing }: { readonly missing?: string }, row: R | undefined): R {
  if (!row) throw notFound(missing);
  return row;
}
