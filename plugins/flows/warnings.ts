/** What a program names that is not there yet, and what would hardly do what was meant: told when a flow is saved or shown. */
import type { Connectors } from "../connectors/api.ts";
import type { JsonDatabases } from "../jsondb/api.ts";
import { checkProgram } from "./check.ts";
import { tableWarnings } from "./records.ts";
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
 * Unknown connectors, methods, flows, databases and tables, records that go to no table, and keys that do nothing. `made`
 * is the code of a flow that is being made. For a program with mistakes it gives the mistakes: the flow was saved while
 * the plugin of a step was still installed.
 */
export type Warnings = (accountId: number, program: unknown, made?: string) => Promise<string[]>;

export function createWarnings({ connectors, databases, templates, stepTypes, isActiveFlow }: Needed): Warnings {
  return async (accountId, program, made) => {
    const { unknownKeys, mistakes } = checkProgram(program, templates, stepTypes);
    if (mistakes.length > 0) return [...mistakes];
    const warnings = unknownKeys.map((place) => `${place} is unknown in a step of this type, and does nothing`);
    for (const { place, step } of stepsIn(program, "program")) {
      if (step.type === "connector") {
        const methods = await connectors.methodsOf(accountId, step.connector);
        if (!methods) warnings.push(`${place}.connector: there is no active connector "${step.connector}" yet`);
        else if (!methods.some(({ name }) => name === step.method))
          warnings.push(`${place}.method: the connector "${step.connector}" has no method "${step.method}"`);
      }
      if (step.type === "flow" && step.flow !== made && !(await isActiveFlow(accountId, step.flow)))
        warnings.push(`${place}.flow: there is no active flow "${step.flow}" yet`);
      if (step.type === "db") warnings.push(...(await tableWarnings(databases, accountId, step, place)));
    }
    return warnings;
  };
}
