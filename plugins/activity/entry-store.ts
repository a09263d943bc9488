/**
 * SQL that notes changes in their own statement, for rows that are too many for a trigger:
 *
 *     with changed as (update … returning r.id, …), noted as (insert into activity_inbox (…) select … from changed)
 */

/** The columns of a row of the inbox that a statement gives. */
export const inboxColumns = "account_id, action, facts, record_id, actor, old, new, changes";

const secretNames = "passw|secret";

/** What the entries of a statement are called. Fields that are named like a secret are none of the log's. */
export function inboxFacts(model: string, title: string): string {
  return JSON.stringify({ model, title, secret: secretNames });
}

/** Of one row, in bytes. */
const mostKept = 4_000;

/**
 * The columns `old`, `new` and `changes`. What is small is kept as it is: to find the difference here would cost more
 * than all else. Undefined = there is no such side.
 */
export function inboxValues(old: string | undefined, now: string | undefined): string {
  const sides = [old, now].flatMap((side) => (side === undefined ? [] : `pg_column_size(${side})`));
  const isSmall = `${sides.join(" + ")} <= ${mostKept}`;
  const kept = (side: string | undefined) => (side === undefined ? "null" : `case when ${isSmall} then ${side} end`);
  const difference = `activity_changes('{"secret": "${secretNames}"}', ${old ?? "null"}, ${now ?? "null"})`;
  return `${kept(old)}, ${kept(now)}, case when not ${isSmall} then ${difference} end`;
}
