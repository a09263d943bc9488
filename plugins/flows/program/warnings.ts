/** Warnings of a program when it is saved or shown: things that do not exist yet, and steps that hardly do as intended. */
import { isObject } from "platform";
import { paramHints, type Connectors } from "../../connectors/api.ts";
import type { JsonDatabases } from "../../jsondb/api.ts";
import { checkProgram } from "./check.ts";
import { tableWarnings } from "../processes/records.ts";
import type { DbStep } from "./program.ts";
import { readCondition, readSearch } from "./search.ts";
import type { StepTypes } from "./step-types.ts";
import { stepsIn } from "./takes.ts";
import { isTemplate, type Templates } from "./template.ts";

interface Needed {
  readonly connectors: Pick<Connectors, "methodsOf">;
  readonly databases: Pick<JsonDatabases, "fieldHints" | "find">;
  readonly templates: Templates;
  readonly stepTypes: StepTypes;
  readonly isActiveFlow: (accountId: number, code: string) => Promise<boolean>;
}

/**
 * Names unknown connectors, methods, flows, databases, tables and fields of conditions, records that would be in no table, and what a program
 * that is saved would be refused for. `made` is the code of a flow that is being made. A stored program can have mistakes, if the plugin of a step
 * is no longer installed: then they are the warnings.
 */
export type Warnings = (accountId: number, program: unknown, made?: string) => Promise<string[]>;

export function createWarnings({ connectors, databases, templates, stepTypes, isActiveFlow }: Needed): Warnings {
  return async (accountId, program, made) => {
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
          if (!method)
            warnings.push(`${place}.method: the connector "${step.connector}" has no method "${step.method}"`);
          else if (isObject(step.params))
            warnings.push(...paramHints(method, step.params).map((hint) => `${place}.params: ${hint}`));
        }
      }
      if (step.type === "flow" && step.flow !== made && !(await isActiveFlow(accountId, step.flow)))
        warnings.push(`${place}.flow: the flow "${step.flow}" does not exist yet or is not active`);
      if (step.type !== "db") continue;
      warnings.push(...(await tableWarnings(databases, accountId, step, place)));
      const table = tableOf(step);
      for (const { key, fields } of fieldsIn(step))
        for (const hint of await databases.fieldHints(accountId, step.db, table, fields))
          warnings.push(`${place}.${key}: ${hint}`);
    }
    return warnings;
  };
}

/** The fields by which a step finds or changes records, by the key that names them. */
function fieldsIn({ op, params, if: condition, increment }: DbStep): { key: string; fields: Iterable<string> }[] {
  const given = (value: unknown) => ({ value, template: value });
  if (op === "search") return [{ key: "params", fields: readSearch(given(params ?? {})).fields }];
  if (op !== "update") return [];
  return [
    { key: "if", fields: isObject(condition) ? readCondition(given(condition)).fields : [] },
    { key: "increment", fields: isObject(increment) ? Object.keys(increment) : [] },
  ];
}

/** Null if it is known only when the step runs, or the record's own. */
function tableOf({ table_name: own, params }: DbStep): string | null {
  const table = own ?? params?.["table_name"];
  return typeof table === "string" && table !== "" && !isTemplate(table) ? table : null;
}
