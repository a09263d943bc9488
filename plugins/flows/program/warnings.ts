/** Warnings of a program when it is saved or shown: things that do not exist yet, and steps that hardly do as intended. */
import { isObject } from "platform";
import { paramHints, type Connectors } from "../../connectors/api.ts";
import type { JsonDatabases } from "../../jsondb/api.ts";
import { checkProgram } from "./check.ts";
import { tableWarnings } from "../processes/records.ts";
import type { StepTypes } from "./step-types.ts";
import { stepsIn } from "./takes.ts";
import type { Templates } from "./template.ts";

interface Needed {
  readonly connectors: Pick<Connectors, "methodsOf">;
  readonly databases: Pick<JsonDatabases, "find">;
  readonly templates: Templates;
  readonly stepTypes: StepTypes;
  readonly isActiveFlow: (accountId: number, code: string) => Promise<boolean>;
}

/**
 * Names unknown connectors, methods, flows, databases and tables, records that would be in no table, and what a program
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
      if (step.type === "db") warnings.push(...(await tableWarnings(databases, accountId, step, place)));
    }
    return warnings;
  };
}
