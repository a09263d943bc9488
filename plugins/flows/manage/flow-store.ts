/** All SQL about flows and their programs. */
import { readPage, readRows, type Page, type Queryable, type Sql, type Static, type Tx } from "platform";
import type { Flow } from "../answers.ts";
import type { Program } from "../program/program.ts";

export interface FlowRow {
  readonly id: string;
  readonly accountId: number;
  readonly code: string;
  readonly name: string;
  readonly kind: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly programId: number;
  readonly active: boolean;
  readonly version: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export type FlowInput = Pick<FlowRow, "code" | "name" | "kind" | "fields" | "active" | "programId">;

export interface FlowFilter {
  readonly q: string | undefined;
  readonly code: string | undefined;
  /** Those that agents may call as a tool of their own, or the others. */
  readonly tool: boolean | undefined;
}

/** The object of behaviour B.9; `warnings` say what would fail now. */
export function toApi(row: FlowRow, warnings?: readonly string[]): Static<typeof Flow> {
  return {
    id: row.id,
    name: row.name,
    code: row.code,
    kind: row.kind,
    fields: row.fields,
    active: row.active,
    created_at: row.createdAt,
    updated_at: row.updatedAt,
    ...(warnings && { warnings }),
  };
}

const programsKept = 500;

export type FlowStore = ReturnType<typeof createFlowStore>;

export function createFlowStore(sql: Sql) {
  const columns = sql`id, account_id, code, name, kind, fields, program_id, active, version, created_at, updated_at`;

  /** A stored program never changes, so those used last are kept in memory. */
  const programs = new Map<number, Program>();

  return {
    async list(accountId: number, filter: FlowFilter, page: Page) {
      const where = sql`account_id = ${accountId}
        ${filter.q === undefined ? sql`` : sql`and (name ilike ${filter.q} or code ilike ${filter.q})`}
        ${filter.code === undefined ? sql`` : sql`and code = ${filter.code}`}
        ${filter.tool === undefined ? sql`` : sql`and (coalesce(fields ->> 'tool', '') = 'true') = ${filter.tool}`}`;
      return readPage<FlowRow>(sql, page, { columns, from: sql`flows where ${where}`, order: sql`id` });
    },

    async byId(accountId: number, id: string, on: Queryable = sql): Promise<FlowRow | undefined> {
      const [row] = await on<FlowRow[]>`select ${columns} from flows where account_id = ${accountId} and id = ${id}`;
      return row;
    },

    async byCode(accountId: number, code: string, on: Queryable = sql): Promise<FlowRow | undefined> {
      const [row] = await on<
        FlowRow[]
      >`select ${columns} from flows where account_id = ${accountId} and code = ${code}`;
      return row;
    },

    /** Whose fields hold one of these texts, in the order of their codes. */
    holding: (accountId: number, texts: readonly string[], page: Page) =>
      readRows<FlowRow>(sql, page, {
        columns,
        from: sql`flows where account_id = ${accountId}
          and exists (select from unnest(${texts}::text[]) word where strpos(fields::text, word) > 0)`,
        order: sql`code`,
      }),

    async byCodes(tx: Tx, accountId: number, codes: readonly string[]): Promise<FlowRow[]> {
      return tx<FlowRow[]>`
        select ${columns} from flows where account_id = ${accountId} and code = any(${codes}::text[])`;
    },

    /** Held until the transaction ends, so that changes take turns. */
    async lock(tx: Tx, accountId: number, id: string): Promise<FlowRow | undefined> {
      const [row] = await tx<FlowRow[]>`
        select ${columns} from flows where account_id = ${accountId} and id = ${id} for no key update`;
      return row;
    },

    async insertProgram(
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
    },

    /** Every program that the flow has had, latest first. */
    async versions(accountId: number, flowId: string, page: Page) {
      const where = sql`account_id = ${accountId} and flow_id = ${flowId}`;
      return readPage<{ program: unknown; createdById: number | null; createdAt: Date }>(sql, page, {
        columns: sql`program, created_by_id, created_at`,
        from: sql`flow_programs where ${where}`,
        order: sql`id desc`,
      });
    },

    async programs(accountId: number, ids: readonly number[]): Promise<Map<number, Program>> {
      const missing = ids.filter((id) => !programs.has(id));
      const rows =
        missing.length === 0
          ? []
          : await sql<{ id: number; program: Program }[]>`
              select id, program from flow_programs where account_id = ${accountId} and id = any(${missing}::bigint[])`;
      const found = new Map(rows.map(({ id, program }) => [id, program]));
      for (const id of ids) {
        const program = found.get(id) ?? programs.get(id);
        if (program) found.set(id, program);
      }
      for (const [id, program] of found) {
        programs.delete(id);
        programs.set(id, program);
      }
      for (const id of programs.keys()) {
        if (programs.size <= programsKept) break;
        programs.delete(id);
      }
      return found;
    },

    async insert(tx: Tx, id: string, accountId: number, userId: number | null, input: FlowInput): Promise<FlowRow> {
      const [row] = await tx<FlowRow[]>`
        insert into flows (id, account_id, code, name, kind, fields, program_id, active, created_by_id)
        values (${id}, ${accountId}, ${input.code}, ${input.name}, ${input.kind},
          ${JSON.stringify(input.fields)}::text::json, ${input.programId}, ${input.active}, ${userId})
        returning ${columns}`;
      return row as FlowRow; // an insert of one row returns one
    },

    async update(tx: Tx, accountId: number, id: string, userId: number | null, input: FlowInput): Promise<FlowRow> {
      const [row] = await tx<FlowRow[]>`
        update flows set code = ${input.code}, name = ${input.name}, kind = ${input.kind},
          fields = ${JSON.stringify(input.fields)}::text::json, program_id = ${input.programId},
          active = ${input.active}, updated_by_id = ${userId}, version = version + 1, updated_at = now()
        where account_id = ${accountId} and id = ${id} returning ${columns}`;
      return row as FlowRow; // `lock` held the row
    },

    async delete(tx: Tx, accountId: number, id: string): Promise<void> {
      await tx`delete from flows where account_id = ${accountId} and id = ${id}`;
    },
  };
}
