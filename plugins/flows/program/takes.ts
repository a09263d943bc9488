/** Resources that a program's steps reach: the privileges needed to save it, and the names that it refers to. */
import { forbidden, HttpError, isObject, type Sql, type Use, type Uses } from "platform";
import { programOf } from "../manage/check.ts";
import { holding, type Naming } from "../manage/store.ts";
import { blockAt, branchNames, limits, type DbOp, type Program, type Step } from "./program.ts";
import { expandPaths } from "./records.ts";
import { privilegeFor, type OwnStepType, type StepTypes } from "./step-types.ts";

/** A flow reaches every database and connector of the account for anyone who starts it, so its author needs access. */
const builtIn = new Map<Step["type"], string>([
  ["db", "dbs"],
  ["connector", "flows"],
  ["http", "flows"],
  ["flow", "flows"],
]);

/** The programs of the flows of these codes, active or not; unknown codes are left out. */
export type ProgramsOf = (codes: readonly string[]) => Promise<readonly { code: string; program: unknown }[]>;

interface Reaching {
  readonly programsOf: ProgramsOf;
  readonly types: StepTypes;
  /** Throws the 403 of a step of a plugin that the author may not save. */
  readonly allows: (type: OwnStepType, step: Step) => Promise<void>;
  /** Whether the author may use all records of a database so far. */
  readonly reaches: (db: string, level: Level) => Promise<boolean>;
  /** The databases that links of a database lead through. */
  readonly along: (db: string, paths: readonly string[]) => Promise<readonly string[]>;
}

type Level = "read" | "add" | "edit";

/** The level of access that each operation of a `db` step needs. */
export const levelOf: Readonly<Record<DbOp, Level>> = {
  get: "read",
  search: "read",
  create: "add",
  update: "edit",
  delete: "edit",
};

/** Throws the 403 if a step, here or in a called flow, needs a privilege that the author lacks. */
export async function mustBeTheirs(
  program: unknown,
  privileges: ReadonlySet<string>,
  { programsOf, types, allows, reaches, along }: Reaching,
): Promise<void> {
  for await (const { place, step } of allSteps(program, programsOf)) {
    const own = types.get(step.type);
    const privilege = builtIn.get(step.type) ?? (own && privilegeFor(own, step));
    if (privilege !== undefined && !privileges.has(privilege))
      throw forbidden(`\`${place}\`: saving a flow with a \`${step.type}\` step needs the privilege \`${privilege}\``);
    if (own)
      await allows(own, step).catch((error: unknown) => {
        throw error instanceof HttpError ? forbidden(`\`${place}\`: ${error.message}`) : error;
      });
    if (step.type !== "db") continue;
    if (!(await reaches(step.db, levelOf[step.op])))
      throw forbidden(
        `\`${place}\`: saving it needs the level \`${levelOf[step.op]}\` for all records of the database \`${step.db.slice(0, 100)}\``,
      );
    for (const end of await along(step.db, expandPaths(step)))
      if (!(await reaches(end, "read")))
        throw forbidden(
          `\`${place}.expand\`: saving it needs the level \`read\` for all records of each database that these links lead to`,
        );
  }
}

/** The steps of a program and of the flows that it calls. */
export async function* allSteps(program: unknown, programsOf: ProgramsOf): AsyncGenerator<PlacedStep> {
  const seen = new Set<string>();
  let programs: readonly { place: string; program: unknown }[] = [{ place: "program", program }];
  // A process stops at this depth: deeper steps never run.
  for (let depth = 0; depth <= limits.calls && programs.length > 0; depth++) {
    const called = new Set<string>();
    for (const placed of programs.flatMap((one) => [...stepsIn(one.program, one.place)])) {
      yield placed;
      if (placed.step.type === "flow" && !seen.has(placed.step.flow)) called.add(placed.step.flow);
    }
    for (const code of called) seen.add(code);
    const found = called.size === 0 ? [] : await programsOf([...called]);
    programs = found.map(({ code, program: inner }) => ({ place: `flow "${code}": program`, program: inner }));
  }
}

interface PlacedStep {
  readonly place: string;
  readonly step: Step;
}

export function* stepsIn(program: unknown, place: string): Generator<PlacedStep> {
  if (!Array.isArray(program)) return;
  // `checkProgram` accepted it.
  for (const [at, step] of (program as Program).entries()) {
    yield { place: `${place}[${at}]`, step };
    if (!isObject(step)) continue;
    for (const branch of branchNames(step)) yield* stepsIn(blockAt([step], `0.${branch}`), `${place}[${at}].${branch}`);
  }
}

const keyOf: Readonly<Record<string, string>> = {
  "Core::Db": "db",
  "Core::Connector": "connector",
  "Core::Flow": "flow",
};
/** Flows whose text has the name in quotes, and of which each program is read. */
const most = 1000;

/** Which flows name a database, a connector or a flow in their steps. */
export function flowUses(sql: Sql): Uses {
  return {
    privilege: "flows",
    async find(accountId, { model, keys }, limit): Promise<readonly Use[]> {
      const key = keyOf[model];
      if (key === undefined) return [];
      const texts = keys.map((one) => JSON.stringify(one));
      const names = ({ fields }: Naming) =>
        [...stepsIn(programOf(fields), "program")].some(
          // Of a step that this version does not know only the keys can be compared.
          ({ step }: { step: unknown }) =>
            isObject(step) && (step["type"] === key || step["type"] === "http") && keys.includes(String(step[key])),
        );
      const found: Use[] = [];
      for (let offset: number | undefined = 0; offset !== undefined && found.length < limit;) {
        const { rows, next } = await holding(sql, accountId, texts, { limit: most - offset, offset });
        const naming = rows.filter(names);
        found.push(...naming.map(({ id, name }) => ({ kind: "flow", id, name, path: `/connect/flows/${id}.json` })));
        offset = next;
      }
      return found.slice(0, limit);
    },
  };
}
