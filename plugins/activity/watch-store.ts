/** Puts the trigger that writes the log on every table whose rows are logged. */
import type { LoggedTable, PluginFacts, Sql } from "platform";
import type { ActivityContext } from "./context.ts";

interface WatchedTable extends TableColumns {
  /** Arguments of the table's trigger; null without one. */
  readonly facts: string | null;
}

/** One question where all is as it should be. */
export async function watchTables(
  ctx: Pick<ActivityContext, "sql" | "transaction">,
  declared: Declared,
): Promise<void> {
  const find = (on: Pick<Sql, "unsafe">) => on.unsafe<WatchedTable[]>(foundTables);
  const wrong = (tables: readonly WatchedTable[]) =>
    tables.flatMap((table) => {
      const facts = factsOf(table, declared);
      const wanted = facts ? JSON.stringify(facts) : null;
      return wanted === table.facts ? [] : [{ table: table.name, wanted }];
    });
  const tables = await find(ctx.sql);
  const due = wrong(tables).map(({ table, wanted }) => triggerOf(table, wanted));
  // A table at a time where others may write: a transaction that holds one and waits for the next stops theirs.
  const isNew = tables.every(({ facts }) => facts === null);
  for (const statements of isNew ? [due.join("\n")] : due)
    await ctx.transaction(async (tx) => {
      // Several processes start at once.
      await tx`select pg_advisory_xact_lock(hashtext('corestead activity watch'))`;
      await tx.unsafe(statements);
    });
}

const trigger = "activity_note";
/** Names by their numbers, of which a column that was dropped keeps its own. */
const foundTables = `
  select c.relname::text as name, array_remove(a.names, null) as columns,
    coalesce((select array_agg(a.names[k.number] order by k.place) from pg_index i,
      unnest(i.indkey) with ordinality k (number, place) where i.indrelid = c.oid and i.indisprimary), '{}') as keys,
    (select d.description from pg_trigger t
      join pg_description d on d.objoid = t.oid and d.classoid = 'pg_trigger'::regclass and d.objsubid = 0
      where t.tgrelid = c.oid and t.tgname = '${trigger}') as facts
  from pg_class c, lateral (
    select array_agg(case when not attisdropped then attname::text end order by attnum) as names
    from pg_attribute where attrelid = c.oid and attnum > 0) a
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

export interface TableColumns {
  readonly name: string;
  readonly columns: readonly string[];
  /** Columns of its primary key. */
  readonly keys: readonly string[];
}

/** The argument of a table's trigger. */
export interface Facts {
  readonly model: string;
  readonly keys: readonly string[];
  readonly name?: string;
  readonly secrets: readonly string[];
  readonly quiet: readonly string[];
  readonly by?: LoggedTable["by"];
  readonly account?: LoggedTable["account"];
}

const names = ["name", "login", "code", "title"];
/** Columns that entries leave out: the entry itself says when and by whom. */
const kept = ["account_id", "version", "created_at", "updated_at", "created_by_id", "updated_by_id"];
const secretName = /(^|_)(secret|password|passphrase|hash|sealed|token|key|seed|otp)(_|$)/;

export type Declared = ReadonlyMap<string, LoggedTable | false>;

/** How the log shows a table, by its plugin's declaration, else by its columns. Pure. */
export function declaredBy(plugins: readonly PluginFacts[]): Declared {
  return new Map(plugins.flatMap(({ activity = {} }) => Object.entries(activity)));
}

/** Undefined if the table is not logged. */
export function factsOf({ name, columns, keys }: TableColumns, declared: Declared): Facts | undefined {
  const given = declared.get(name);
  if (given === false || !(columns.includes("account_id") || name === "accounts" || given?.account)) return undefined;
  const { model = name, secrets = [], quiet = [], by, account } = given ?? {};
  const title = given?.name ?? names.find((one) => columns.includes(one));
  return {
    model,
    keys: keys.length > 1 ? keys.filter((key) => key !== "account_id" && !isSecret(key)) : keys,
    ...(title !== undefined && { name: title }),
    secrets: [...new Set([...secrets, ...columns.filter(isSecret)])],
    quiet: [...new Set([...kept, ...quiet])].filter((column) => columns.includes(column)),
    ...(by && { by }),
    ...(account && { account }),
  };
}

/** `api_token`, `password_hash`: a new plugin's secrets are none of the log's without a word from it. */
function isSecret(column: string): boolean {
  return secretName.test(column) && !/_(id|info|at|until)$/.test(column);
}
