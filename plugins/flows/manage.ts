/** Making, changing and deleting flows. No HTTP, no SQL. */
import {
  cacheKey,
  freeCode,
  mistakes,
  notFound,
  parseCacheKey,
  slugOf,
  uuidv7,
  type BaseContext,
  type Tx,
} from "platform";
import { codeMistake, isCode, isUuid, type Connectors } from "../connectors/api.ts";
import type { JsonDatabases } from "../jsondb/api.ts";
import { checkProgram } from "./check.ts";
import type { FlowInput, FlowRow, FlowStore } from "./flow-store.ts";
import type { CurrentFlow } from "./needed.ts";
import type { StepTypes } from "./step-types.ts";
import { mustBeTheirs, type ProgramsOf } from "./takes.ts";
import type { Templates } from "./template.ts";
import { createWarnings } from "./warnings.ts";

/** The fields of a request; each may be missing. */
export interface FlowChange {
  readonly name?: string;
  readonly code?: string | null;
  readonly kind?: string;
  readonly fields?: Readonly<Record<string, unknown>> | null;
  readonly active?: boolean;
}

/** Who changes it: a caller, or no person. */
interface Author {
  readonly account: { readonly id: number };
  readonly user: { readonly id: number | null };
  /** What its steps may take; null = everything (a command, another plugin). */
  readonly privileges: ReadonlySet<string> | null;
}

interface Needed {
  readonly ctx: Pick<BaseContext, "transaction" | "cache">;
  readonly store: FlowStore;
  readonly connectors: Connectors;
  readonly databases: Pick<JsonDatabases, "find">;
  readonly templates: Templates;
  readonly stepTypes: StepTypes;
}

export const flowKind = "core/custom_flow";
const maxFieldsChars = 500_000;

export type Managing = ReturnType<typeof createManaging>;

export function createManaging({ ctx, store, connectors, databases, templates, stepTypes }: Needed) {
  const cache = ctx.cache<FlowRow & CurrentFlow>({
    name: "flows",
    max: 1000,
    load: async (key) => {
      const { accountId, name: code } = parseCacheKey(key);
      const row = await store.byCode(accountId, code);
      const program = row && (await store.programs(accountId, [row.programId])).get(row.programId);
      return row && program && { ...row, program };
    },
  });
  const cached = async (accountId: number, code: string) => {
    if (!isCode(code)) return undefined;
    const key = cacheKey(accountId, code);
    return cache.peek(key) ?? (await cache.get(key));
  };
  const forget = async (accountId: number, codes: readonly string[]) => {
    await Promise.all([...new Set(codes)].map((code) => cache.invalidate(cacheKey(accountId, code))));
  };
  const check = (input: Omit<FlowInput, "programId">): void => {
    const found = mistakes();
    const wrongCode = codeMistake(input.code);
    if (wrongCode !== undefined) found.add("code", wrongCode);
    if (input.kind !== flowKind) found.add("kind", `must be ${flowKind}`);
    if (JSON.stringify(input.fields).length > maxFieldsChars)
      found.add("fields", `may have at most ${maxFieldsChars} characters as JSON`);
    if (programOf(input.fields) === undefined) found.add("program", "is required in `fields`: an array of steps");
    else
      for (const message of checkProgram(programOf(input.fields), templates, stepTypes).mistakes)
        found.add("program", message);
    found.check();
  };
  const mustBeWritable = async (tx: Tx, { account, privileges }: Author, program: unknown): Promise<void> => {
    if (privileges === null) return;
    const programsOf: ProgramsOf = async (codes) =>
      (await store.byCodes(tx, account.id, codes)).map(({ code, fields }) => ({ code, program: programOf(fields) }));
    await mustBeTheirs(program, privileges, programsOf, stepTypes);
  };

  return {
    async create(author: Author, change: FlowChange & { name: string }): Promise<FlowRow> {
      const { account, user } = author;
      const id = uuidv7();
      const row = await ctx.transaction(async (tx) => {
        const input = {
          name: change.name,
          code: change.code || (await freeCode(tx, { table: "flows", accountId: account.id }, newCode(change))),
          kind: change.kind ?? flowKind,
          fields: change.fields ?? {},
          active: change.active ?? true,
        };
        check(input);
        await mustBeWritable(tx, author, programOf(input.fields));
        const programId = await store.insertProgram(tx, account.id, id, programOf(input.fields));
        return store.insert(tx, id, account.id, user.id, { ...input, programId });
      });
      await forget(account.id, [row.code]);
      return row;
    },

    async update(author: Author, id: string, change: FlowChange): Promise<FlowRow> {
      const { account, user } = author;
      const { before, after } = await ctx.transaction(async (tx) => {
        const row = await store.lock(tx, account.id, id);
        if (!row) throw notFound();
        const input = {
          name: change.name ?? row.name,
          code: change.code || row.code,
          kind: change.kind ?? row.kind,
          fields: change.fields === undefined ? row.fields : (change.fields ?? {}),
          active: change.active ?? row.active,
        };
        if (!onlySwitchesOff(change)) {
          check(input);
          await mustBeWritable(tx, author, programOf(input.fields));
        }
        const same = JSON.stringify(programOf(input.fields)) === JSON.stringify(programOf(row.fields));
        const programId = same ? row.programId : await store.insertProgram(tx, account.id, id, programOf(input.fields));
        return { before: row, after: await store.update(tx, account.id, id, user.id, { ...input, programId }) };
      });
      await forget(account.id, [before.code, after.code]);
      return after;
    },

    async delete({ account }: Pick<Author, "account">, id: string): Promise<void> {
      const row = await store.delete(account.id, id);
      if (!row) throw notFound();
      await forget(account.id, [row.code]);
    },

    /** By id or code; codes never have the form of an id. */
    async find(accountId: number, key: string): Promise<FlowRow> {
      if (!isCode(key)) throw notFound();
      const row = isUuid(key) ? await store.byId(accountId, key.toLowerCase()) : await store.byCode(accountId, key);
      if (!row) throw notFound();
      return row;
    },

    exists: async (accountId: number, code: string): Promise<boolean> => (await cached(accountId, code)) !== undefined,

    /** The active flow of this code. */
    async current(accountId: number, code: string): Promise<CurrentFlow | undefined> {
      const flow = await cached(accountId, code);
      return flow?.active ? flow : undefined;
    },

    warnings: createWarnings({
      connectors,
      databases,
      templates,
      stepTypes,
      isActiveFlow: async (accountId, code) => (await cached(accountId, code))?.active === true,
    }),
  };
}

/** What can be stopped by whoever sees it does harm for a shorter time. */
function onlySwitchesOff(change: FlowChange): boolean {
  return change.active === false && Object.keys(change).length === 1;
}

/** The code of a flow to be made; with a number where it was not given and is taken. */
export function newCode({ code, name }: { readonly code?: string | null | undefined; readonly name: string }): string {
  return code || slugOf(name) || "flow";
}

export function programOf(fields: Readonly<Record<string, unknown>>): unknown {
  return fields["program"] ?? undefined;
}
