/** The lineage in `runtime_state`, and what identifies a database. */
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { codeOf } from "../base/values.ts";
import type { Queryable } from "../db/db.ts";
import { Home } from "./home.ts";

export const Lineage = Type.Object({
  /** Eight hexadecimal digits: it is part of file names. */
  id: Type.String({ pattern: "^[0-9a-f]{8}$" }),
  /** Not the copy of another one: what an earlier version left without a name of its own is of this lineage. */
  isFirst: Type.Boolean(),
  /** Null if it was restored and nobody has adopted it. */
  home: Type.Union([Home, Type.Null()]),
});
export type Lineage = Static<typeof Lineage>;

const key = "lineage";
const insufficientPrivilege = "42501";

export async function readLineage(sql: Queryable): Promise<Lineage | undefined> {
  const [row] = await sql<{ value: string }[]>`select value from runtime_state where key = ${key}`;
  if (!row) return undefined;
  const value: unknown = JSON.parse(row.value);
  if (!Value.Check(Lineage, value)) throw new Error("the database's lineage (runtime_state) cannot be read");
  return value;
}

/** Whether it still was as it is `known`. */
export async function replaceLineage(sql: Queryable, known: Lineage | undefined, next: Lineage): Promise<boolean> {
  const value = JSON.stringify(next);
  const written = known
    ? await sql`update runtime_state set value = ${value} where key = ${key} and value = ${JSON.stringify(known)}`
    : await sql`insert into runtime_state (key, value) values (${key}, ${value}) on conflict do nothing`;
  return written.count > 0;
}

export async function databaseIdentity(sql: Queryable): Promise<string> {
  const [row] = await sql<{ oid: string }[]>`
    select oid::text as oid from pg_database where datname = current_database()`;
  return `${await clusterIdentity(sql)}/${row?.oid ?? ""}`;
}

/** A provider may have taken the right to ask for it. */
async function clusterIdentity(sql: Queryable): Promise<string> {
  try {
    const [row] = await sql<{ system: string }[]>`
      select system_identifier::text as system from pg_control_system()`;
    return row?.system ?? "";
  } catch (error) {
    if (codeOf(error) === insufficientPrivilege) return "";
    throw error;
  }
}
