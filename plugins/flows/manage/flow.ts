/* oxlint-disable unicorn/no-thenable -- a step of a flow has a branch of that name */
/** A flow: a program that the server runs, with all the programs that it has had. behaviour 4.3, B.9. */
import { look } from "../../accounts/api.ts";
import type { JsonDatabases } from "../../jsondb/api.ts";
import { answer, column, field, filter, HttpError, invalid, resource, Type, unknownNames } from "platform";
import type { At, Author, Change, Changed, DraftOf, RowOf, Caller, User } from "platform";
import { mustBeTheirs, stepsIn } from "../program/takes.ts";
import { fieldsIn, tableOf, warningsOf, type Lookups } from "../program/warnings.ts";
import { checkFlow, flowKind, isSame, onlySwitchesOff, programOf } from "./check.ts";
import { insertProgram, programsOf, toolOrNot } from "./store.ts";

const { code, flag, id, json, text, usual } = column;

/** For forms and documentation: the program is checked with its places. */
const Fields = Type.Object({ program: Type.Array(Type.Unknown(), { description: "the steps, one after another" }) });

const program = [
  { type: "connector", connector: "weather", method: "current", params: { city: "{{ city }}" }, as: "weather" },
  { type: "mutation", set: { temp: "{{ weather.main.temp }}" } },
  { type: "if", condition: "temp > 20", then: [{ type: "mutation", set: { advice: "Take a hat" } }] },
];

const fields = {
  name: text({ ...usual.name, body: field.name(), example: "Weather advice" }),
  code: code({
    ...usual.code,
    body: field.line(100),
    from: "name",
    otherwise: "flow",
    example: "weather-advice",
  }),
  kind: text({
    label: ["Kind of flow", "Rodzaj przepływu", "Art des Ablaufs"],
    body: field.from(field.name(100), { values: () => [flowKind] }),
    blank: flowKind,
  }),
  fields: json({
    label: ["Steps and settings", "Kroki i ustawienia", "Schritte und Einstellungen"],
    body: field.by(field.nullable(field.object()), "kind", () => ({ [flowKind]: Fields })),
    blank: {},
    example: { program },
  }),
  active: flag({ ...usual.active, body: field.flag(), blank: true }),
  ...look,
  program_id: id({ label: ["Steps", "Kroki", "Schritte"], by: "check", hidden: true }),
};

export type FlowRow = RowOf<typeof fields, "uuid">;
type FlowChange = Change<typeof fields, "uuid">;

interface FlowAuthor extends Author {
  readonly user: User | { readonly id: number | null };
  readonly within?: Caller["within"];
  /** For the program's steps; null = all of them (a command, another plugin). */
  readonly privileges: ReadonlySet<string> | null;
}

const isCaller = (author: FlowAuthor | Caller): author is Caller => "viaCookie" in author;

export interface FlowAt extends At<FlowAuthor>, Lookups {
  readonly databases: Lookups["databases"] & Pick<JsonDatabases, "reaches" | "databasesAlong" | "linkFaults">;
  readonly flowLookup: Lookups["flowLookup"] & {
    readonly forget: (accountId: number, codes: readonly string[]) => Promise<void>;
  };
  /** Of a new one. */
  readonly warnings?: readonly string[];
  /** Where it does what starts it. */
  readonly loops?: (caller: Caller, row: FlowRow) => Promise<readonly string[]>;
}

export const Flow = resource("flow", {
  table: "flows",
  path: "/connect/flows",
  id: "uuid",
  byCode: true,
  privilege: "flows",
  model: "Core::Flow",
  fields,
  derived: {
    warnings: { label: ["Warnings", "Ostrzeżenia", "Warnungen"], schema: Type.Optional(answer.list(Type.String())) },
  },
  filters: {
    q: filter.searching(["name", "code"], "searches name and code; `*` and `%` are wildcards"),
    code: filter.exact(),
    tool: {
      doc: Type.Boolean({
        description: "true: only those that agents call as a tool of their own (`fields.tool`)",
      }),
      where: toolOrNot,
    },
  },
  check,
  committed: ({ flowLookup, caller }, { before, after }: Changed<typeof fields, "uuid">) =>
    flowLookup.forget(
      caller.account.id,
      [before, after].flatMap((row) => (row ? [row.code] : [])),
    ),
  derive: async (at: FlowAt, row) => ({
    warnings: at.warnings ?? (await warningsOf(at, row.accountId, programOf(row.fields))),
  }),
  hints: async (at, row) => [
    ...fieldHints(row.fields),
    ...(isCaller(at.caller) ? ((await at.loops?.(at.caller, row)) ?? []) : []),
  ],
  named: { noun: "a flow", keys: (row) => [row.code] },
  example: { id: "0198c5d2-7a1b-7c3d-8e4f-5a6b7c8d9e10", warnings: [] },
  request: ["name", "code", "kind", "fields"],
  change: { active: false },
  docs: {
    get: { summary: "One flow, by id or code" },
    create: {
      description:
        "A mistake in `fields.program` is 422 under `program`, with its step and key. `warnings` name connectors, " +
        "methods, flows, databases and tables that do not exist yet, and records that would be in no table. " +
        "A `db` step, also in a called flow, needs the privilege `dbs`.",
      refusals: { 422: { program: ["program[2].then[0].connector is required"] } },
    },
    change: {
      description: "`fields` replaces the whole object. A running process keeps the program it started with.",
    },
    delete: { summary: "Delete a flow; its processes stay" },
  },
});

async function check(
  at: FlowAt,
  { tx, id: flowId, given, before, after }: FlowChange,
): Promise<DraftOf<typeof fields>> {
  const { templates, stepTypes, databases, caller } = at;
  const { account, user, privileges, within } = caller;
  const steps = programOf(after.fields);
  if (!before || !onlySwitchesOff(given)) {
    checkFlow(after, templates, stepTypes, before?.fields);
    if (privileges !== null)
      await mustBeTheirs(steps, privileges, {
        programsOf: (codes) => programsOf(tx, account.id, codes),
        types: stepTypes,
        allows: async (type, step) => void (isCaller(caller) && (await type.allow?.(caller, { ...step }))),
        along: (db, paths) => along(databases, account.id, db, paths),
        reaches: (db, level) =>
          databases.reaches(account.id, db, level, async () => [
            "role" in user ? { user, privileges, within } : user.id,
          ]),
      });
    await mustNameOwnFields(databases, account.id, steps);
  }
  const same = before !== undefined && isSame(steps, programOf(before.fields));
  const programId = same ? before.programId : await insertProgram(tx, account.id, flowId, user.id, steps);
  return { ...after, programId };
}

/** 422 for fields at the other end of a link: a step would read them as fields of the records themselves. */
async function mustNameOwnFields(
  databases: Pick<JsonDatabases, "linkFaults">,
  accountId: number,
  steps: unknown,
): Promise<void> {
  const mistakes: string[] = [];
  for (const { place, step } of stepsIn(steps, "program")) {
    if (step.type !== "db") continue;
    for (const { key, fields: named } of fieldsIn(step))
      for (const fault of await databases.linkFaults(accountId, step.db, tableOf(step), named))
        mistakes.push(`${place}.${key}: ${fault}`);
  }
  if (mistakes.length > 0) throw invalid({ program: mistakes });
}

/** A path that is no link of the database as it is now leads nowhere: the step fails when it runs. */
function along(
  databases: Pick<JsonDatabases, "databasesAlong">,
  accountId: number,
  db: string,
  paths: readonly string[],
): Promise<readonly string[]> {
  return databases.databasesAlong(accountId, db, paths).catch((error: unknown) => {
    if (error instanceof HttpError && error.status === 400) return [];
    throw error;
  });
}

/** Names the keys that neither the engine nor agents read. */
function fieldHints(given: FlowRow["fields"]): string[] {
  const known = ["program", "tool", "description", "input", "alarm"];
  return unknownNames(Object.keys(given), known, (name) => `unknown field "${name}" in "fields"`);
}
