/** Makes, changes and deletes flows. No HTTP, no SQL. */
import { freeCode, mustMatch, notFound, uuidv7, type BaseContext, type Tx } from "platform";
import {
  checkFlow,
  flowKind,
  isSame,
  newCode,
  onlySwitchesOff,
  patched,
  programOf,
  type FlowPatch,
} from "./flow-check.ts";
import type { FlowLookup } from "./flow-lookup.ts";
import type { FlowRow, FlowStore } from "./flow-store.ts";
import type { StepTypes } from "../program/step-types.ts";
import { mustBeTheirs, type ProgramsOf } from "../program/takes.ts";
import type { Templates } from "../program/template.ts";

/** Who changes it: a caller, or no person. */
interface Author {
  readonly account: { readonly id: number };
  readonly user: { readonly id: number | null };
  /** The privileges for the program's steps; null = all of them (a command, another plugin). */
  readonly privileges: ReadonlySet<string> | null;
}

interface Needed {
  readonly ctx: Pick<BaseContext, "transaction">;
  readonly flowStore: FlowStore;
  readonly flowLookup: Pick<FlowLookup, "forget">;
  readonly templates: Templates;
  readonly stepTypes: StepTypes;
}

export type FlowWriter = ReturnType<typeof createFlowWriter>;

export function createFlowWriter({ ctx, flowStore, flowLookup, templates, stepTypes }: Needed) {
  const mustBeWritable = async (tx: Tx, { account, privileges }: Author, program: unknown): Promise<void> => {
    if (privileges === null) return;
    const programsOf: ProgramsOf = async (codes) => {
      const rows = await flowStore.byCodes(tx, account.id, codes);
      return rows.map(({ code, fields }) => ({ code, program: programOf(fields) }));
    };
    await mustBeTheirs(program, privileges, programsOf, stepTypes);
  };

  return {
    async create(author: Author, patch: FlowPatch & { name: string }): Promise<FlowRow> {
      const { account, user } = author;
      const id = uuidv7();
      const row = await ctx.transaction(async (tx) => {
        const code = patch.code || (await freeCode(tx, { table: "flows", accountId: account.id }, newCode(patch)));
        const input = patched({ name: patch.name, code, kind: flowKind, fields: {}, active: true }, patch);
        checkFlow(input, templates, stepTypes);
        await mustBeWritable(tx, author, programOf(input.fields));
        const programId = await flowStore.insertProgram(tx, account.id, id, user.id, programOf(input.fields));
        return flowStore.insert(tx, id, account.id, user.id, { ...input, programId });
      });
      await flowLookup.forget(account.id, [row.code]);
      return row;
    },

    /** `expected` is the version that the caller has seen; undefined = any. */
    async update(author: Author, id: string, patch: FlowPatch, expected?: number): Promise<FlowRow> {
      const { account, user } = author;
      const { before, after } = await ctx.transaction(async (tx) => {
        const row = await flowStore.lock(tx, account.id, id);
        if (!row) throw notFound();
        mustMatch(row, expected);
        const input = patched(row, patch);
        const program = programOf(input.fields);
        if (!onlySwitchesOff(patch)) {
          checkFlow(input, templates, stepTypes, row.fields);
          await mustBeWritable(tx, author, program);
        }
        const same = isSame(program, programOf(row.fields));
        const programId = same ? row.programId : await flowStore.insertProgram(tx, account.id, id, user.id, program);
        return { before: row, after: await flowStore.update(tx, account.id, id, user.id, { ...input, programId }) };
      });
      await flowLookup.forget(account.id, [before.code, after.code]);
      return after;
    },

    async delete({ account }: Pick<Author, "account">, id: string, expected?: number): Promise<void> {
      const row = await ctx.transaction(async (tx) => {
        const found = await flowStore.lock(tx, account.id, id);
        if (!found) throw notFound();
        mustMatch(found, expected);
        await flowStore.delete(tx, account.id, id);
        return found;
      });
      await flowLookup.forget(account.id, [row.code]);
    },
  };
}
