/**
 * SQL that notes changes in their own statement, for rows that are too many for a trigger:
 *
 *     with changed as (update … returning r.id, …), noted as (insert into activity_inbox (…) select … from changed)
 */

/** The columns of a row of the inbox that a statement gives. */
export const inboxColumns = "account_id, action, facts, record_id, actor, old, new, changes";

const secretNames = "passw|secret";

/** Names a table's entries. Fields that are named like a secret are not logged. */
export function inboxFacts(model: string, title: string): string {
  return JSON.stringify({ model, title, secret: secretNames });
}

/** Maximum for one row, in bytes. */
const mostKept = 4_000;

/**
 * The columns `old`, `new` and `changes`. What is small is kept as it is: to find the difference here would cost more
 * than all else. Undefined = there is no such side.
 */
export function inboxValues(old: string | undefined, now: string | undefined): string {
  const sides = [old, now].flatMap((side) => (side === undefined ? [] : `pg_column_size(${side})`));
  const isSmall = `${sides.join(" + ")} <= ${mostKept}`;
  const kept = (side: string | undefined) => (side === undefined ? "null" : `case when ${isSmall} then ${side} end`);
  return `${kept(old)}, ${kept(now)}, case when not ${isSmall} then ${difference(old, now)} end`;
}

/** The columns of a row of the inbox that has all records that a statement changed. */
export const inboxManyColumns = "account_id, action, facts, actor, ids, olds, given";

/** Maximum for a statement's parameters, in bytes; the records that it wrote hold them, too. */
const mostGiven = 64_000;

/** An item of `olds`; `given` is the whole text that the statement was given. */
export function inboxOld(old: string, patch: string, given: string): string {
  const isSmall = `pg_column_size(${old}) <= ${mostKept} and octet_length(${given}) <= ${mostGiven}`;
  return `case when ${isSmall} then ${old} else jsonb_build_array(${difference(old, patch)}) end`;
}

/** The column `given`: `array`, which is or holds the whole text. */
export function inboxGiven(given: string, array: string): string {
  return `case when octet_length(${given}) <= ${mostGiven} then ${array} else '[]' end`;
}

function difference(old: string | undefined, now: string | undefined): string {
  return `activity_changes('{"secret": "${secretNames}"}', ${old ?? "null"}, ${now ?? "null"})`;
}
