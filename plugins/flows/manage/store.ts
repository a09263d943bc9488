/** SQL about flows beside that of the resource: who names what, and their programs. */
import { flagOf, readPage, readRows, type Fragment, type Page, type Queryable, type Sql, type Tx } from "platform";
import type { Program } from "../program/program.ts";
import { programOf } from "./check.ts";

/** A flow that may name something. */
export interface Naming {
  readonly id: string;
  readonly name: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Narrows a list to those that agents may call as a tool of their own, or to the others. */
export function toolOrNot(sql: Sql, query: URLSearchParams, name: string): Fragment | undefined {
  const given = flagOf(query, name);
  return given === undefined ? undefined : sql`(coalesce(fields ->> 'tool', '') = 'true') = ${given}`;
}

/** Those whose fields hold one of these texts, in the order of their codes. */
export async function holding(sql: Sql, accountId: number, texts: readonly string[], page: Page) {
  return readRows<Naming>(sql, page, {
    columns: sql`id, name, fields`,
    from: sql`flows where account_id = ${accountId}
      and exists (select from unnest(${texts}::text[]) word where strpos(fields::text, word) > 0)`,
    order: sql`code`,
  });
}

/** The programs of the flows with these codes. */
export async function programsOf(tx: Queryable, accountId: number, codes: readonly string[]) {
  const rows = await tx<(Pick<Naming, "fields"> & { code: string })[]>`
    select code, fields from flows where account_id = ${accountId} and code = any(${codes}::text[])`;
  return rows.map(({ code, fields }) => ({ code, program: programOf(fields) }));
}

export async function insertProgram(
  tx: Tx,
  accountId: number,
  flowId: string,
  userId: number | null,
  program: unknown,
): Promise<number> {
  const [row] = await tx<{ id: number }[]>`
    insert into flow_programs (account_id, flow_id, program, created_by_id)
    values (${accountId}, ${flowId}, ${JSON.stringify(program)}::text::json, ${userId}) returning id`;
  if (!row) throw new Error("an insert of one row returns one");
  return row.id;
}

/** Who has saved these programs. */
export async function authorsOf(sql: Sql, accountId: number, ids: readonly number[]): Promise<(number | null)[]> {
  const rows = await sql<{ createdById: number | null }[]>`
    select distinct created_by_id from flow_programs where account_id = ${accountId} and id = any(${[...ids]}::bigint[])`;
  return rows.map(({ createdById }) => createdById);
}

/** Every program that the flow has had, latest first. */
export async function versions(sql: Sql, accountId: number, flowId: string, page: Page) {
  const where = sql`account_id = ${accountId} and flow_id = ${flowId}`;
  return readPage<{ program: unknown; createdById: number | null; createdAt: Date }>(sql, page, {
    columns: sql`program, created_by_id, created_at`,
    from: sql`flow_programs where ${where}`,
    order: sql`id desc`,
  });
}

export async function readPrograms(
  sql: Queryable,
  accountId: number,
  ids: readonly number[],
): Promise<Map<number, Program>> {
  const rows = await sql<{ id: number; program: Program }[]>`
    select id, program from flow_programs where account_id = ${accountId} and id = any(${ids}::bigint[])`;
  return new Map(rows.map(({ id, program }) => [id, program]));
}
