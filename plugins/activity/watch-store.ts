/** Puts the trigger that writes the log on every table whose rows are logged. */
import type { BaseContext, Sql } from "platform";
import { factsOf, type Declared, type TableColumns } from "./tables.ts";

interface Found extends TableColumns {
  /** What the table's trigger was made with; null without one. */
  readonly facts: string | null;
}

interface Needed {
  readonly ctx: Pick<BaseContext, "transaction">;
  readonly sql: Sql;
  readonly declared: Declared;
}

/** One question where all is as it should be. */
export async function watchTables({ ctx, sql, declared }: Needed): Promise<void> {
  const find = (on: Pick<Sql, "unsafe">) => on.unsafe<Found[]>(foundTables);
  const wrong = (tables: readonly Found[]) =>
    tables.flatMap((table) => {
      const facts = factsOf(table, declared);
      const wanted = facts ? JSON.stringify(facts) : null;
      return wanted === table.facts ? [] : [{ table: table.name, wanted }];
    });
  if (wrong(await find(sql)).length === 0) return;
  await ctx.transaction(async (tx) => {
    // Several processes start at once.
    await tx`select pg_advisory_xact_lock(hashtext('corestead activity watch'))`;
    for (const { table, wanted } of wrong(await find(tx))) await tx.unsafe(triggerOf(table, wanted));
  });
}

const trigger = "activity_note";
const foundTables = `
  select c.relname::text as name,
    array(select a.attname::text from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      order by a.attnum) as columns,
    coalesce((select array(select a.attname::text from unnest(i.indkey) with ordinality k (number, place)
      join pg_attribute a on a.attrelid = c.oid and a.attnum = k.number order by k.place)
      from pg_index i where i.indrelid = c.oid and i.indisprimary), '{}') as keys,
    (select obj_description(t.oid, 'pg_trigger') from pg_trigger t
      where t.tgrelid = c.oid and t.tgname = '${trigger}') as facts
  from pg_class c
  where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
    and c.relpersistence = 'p'`;

function triggerOf(table: string, facts: string | null): string {
  const on = `"${table.replaceAll('"', '""')}"`;
  const drop = `drop trigger if exists ${trigger} on ${on};`;
  if (facts === null) return drop;
  const text = `'${facts.replaceAll("'", "''")}'`;
  return `${drop}
    create trigger ${trigger} after insert or update or delete on ${on} for each row execute function activity_note(${text});
    comment on trigger ${trigger} on ${on} is ${text};`;
}
