/** Warnings of a program when it is saved or shown: things that do not exist yet, and steps that hardly do as intended. */
import { HttpError, isObject } from "platform";
import { paramHints, type Connectors } from "../../connectors/api.ts";
import type { JsonDatabases } from "../../jsondb/api.ts";
import { checkProgram } from "./check.ts";
import type { DbStep } from "./program.ts";
import { expandPaths, readCondition, readSearch } from "./records.ts";
import type { StepTypes } from "./step-types.ts";
import { stepsIn } from "./takes.ts";
import { isTemplate, type Templates } from "./template.ts";

/** Lookups for the warnings of a program. */
export interface Lookups {
  readonly connectors: Pick<Connectors, "kindOf" | "methodsOf">;
  readonly databases: Pick<JsonDatabases, "fieldHints" | "find" | "databasesAlong">;
  readonly flowLookup: {
    /** The active flow of this code. */
    readonly current: (accountId: number, code: string) => Promise<object | undefined>;
  };
  readonly templates: Templates;
  readonly stepTypes: StepTypes;
}

/**
 * Names unknown connectors, methods, flows, databases, tables and fields of conditions, records that would be in no table,
 * and what a program that is saved would be refused for. `made` is the code of a flow that is being made. A stored program
 * can have mistakes, if the plugin of a step is no longer installed: then they are the warnings.
 */
export async function warningsOf(
  { connectors, databases, flowLookup, templates, stepTypes }: Lookups,
  accountId: number,
  program: unknown,
  made?: string,
): Promise<string[]> {
  const { outdated, mistakes } = checkProgram(program, templates, stepTypes);
  if (mistakes.length > 0) return [...mistakes];
  const warnings = [...outdated];
  for (const { place, step } of stepsIn(program, "program")) {
    if (step.type === "connector") {
      const methods = await connectors.methodsOf(accountId, step.connector);
      if (!methods)
        warnings.push(`${place}.connector: the connector "${step.connector}" does not exist yet or is not active`);
      else {
        const method = methods.find(({ name }) => name === step.method);
        if (!method) warnings.push(`${place}.method: the connector "${step.connector}" has no method "${step.method}"`);
        else if (isObject(step.params))
          warnings.push(...paramHints(method, step.params).map((hint) => `${place}.params: ${hint}`));
      }
    }
    const { connector = null } = step.type === "http" ? step : {};
    if (connector !== null && (await connectors.kindOf(accountId, connector)) !== "core/custom_connector")
      warnings.push(
        `${place}.connector: no active connector "${connector}" of the kind core/custom_connector exists yet`,
      );
    if (step.type === "flow" && step.flow !== made && !(await flowLookup.current(accountId, step.flow)))
      warnings.push(`${place}.flow: the flow "${step.flow}" does not exist yet or is not active`);
    if (step.type !== "db") continue;
    warnings.push(...(await tableWarnings(databases, accountId, step, place)));
    const links = await databases.databasesAlong(accountId, step.db, expandPaths(step)).catch(messageOf);
    if (typeof links === "string") warnings.push(`${place}.expand: ${links}`);
    const table = tableOf(step);
    for (const { key, fields } of fieldsIn(step))
      for (const hint of await databases.fieldHints(accountId, step.db, table, fields))
        warnings.push(`${place}.${key}: ${hint}`);
  }
  return warnings;
}

function messageOf(error: unknown): string {
  if (error instanceof HttpError && error.status === 400) return error.message;
  throw error;
}

/** Warnings of the step at `place`: an unknown database or table, or a missing table name. */
async function tableWarnings(
  databases: Pick<JsonDatabases, "find">,
  accountId: number,
  { op, db, table_name: table, params }: DbStep,
  place: string,
): Promise<string[]> {
  const found = await databases.find(accountId, db);
  if (!found) return [`${place}.db: the database "${db}" does not exist yet`];
  const { tables } = found;
  const isWritten = op === "create" || op === "update";
  if (!isWritten && op !== "search" && table)
    return [`${place}.table_name does nothing here: \`${op}\` finds the record by its id`];
  if (table === undefined || table === null || table === "") {
    const leaves = tables !== null && (op === "create" || (op === "update" && table === null));
    if (leaves) return [`${place}.table_name: the record is in no table, so no search finds it: ${namesOf(tables)}`];
    const searches = op === "search" && params?.["table_name"] === undefined;
    return searches && tables ? [`${place}.table_name is missing: ${namesOf(tables)}`] : [];
  }
  if (typeof table !== "string" || isTemplate(table)) return [];
  if (tables === null) return isWritten ? [`${place}.table_name: the database "${db}" has no tables`] : [];
  return tables.includes(table) ? [] : [`${place}.table_name: the table "${table}" does not exist: ${namesOf(tables)}`];
}

/** "tables are orders, lines" */
export function namesOf(names: readonly string[]): string {
  return `tables are ${names.join(", ")}`.slice(0, 500);
}

/** The fields by which a step finds or changes records, by the key that names them. */
export function fieldsIn({
  op,
  params,
  if: condition,
  increment,
}: DbStep): { key: string; fields: Iterable<string> }[] {
  const given = (value: unknown) => ({ value, template: value });
  if (op === "search") return [{ key: "params", fields: readSearch(given(params ?? {})).fields }];
  if (op !== "update") return [];
  return [
    { key: "if", fields: isObject(condition) ? readCondition(given(condition)).fields : [] },
    { key: "increment", fields: isObject(increment) ? Object.keys(increment) : [] },
  ];
}

/** Null if it is known only when the step runs, or the record's own. */
export function tableOf({ table_name: own, params }: DbStep): string | null {
  const table = own ?? params?.["table_name"];
  return typeof table === "string" && table !== "" && !isTemplate(table) ? table : null;
}
