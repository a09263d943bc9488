/** Step types of other plugins: registered in `setup`, checked when a flow is saved, run like calls of connectors. */
import { checkerOf, givenFields, type TObject } from "platform";
import type { StepRun, StepType } from "../api.ts";

/** A registered type with any parameters. */
export interface OwnStepType {
  readonly type: string;
  readonly doc: string;
  readonly params: TObject;
  readonly privilege: string | undefined;
  /** Throws a ValidationError for parameters that do not fit the schema. */
  readonly run: (call: StepRun<unknown>) => Promise<unknown>;
}

export type StepTypes = ReadonlyMap<string, OwnStepType>;

/** The dot distinguishes them from built-in types, also from those of later versions. */
const typeName = /^[a-z][a-z0-9-]{0,39}\.[a-z][a-z0-9_-]{0,59}$/;

export function registerStep<P extends TObject>(
  types: Map<string, OwnStepType>,
  { type, doc, params, privilege, run }: StepType<P>,
): void {
  if (!typeName.test(type))
    throw new Error(`the step type "${type}" must be <plugin>.<name>, in lower case, like shopping-list.notify`);
  if (types.has(type)) throw new Error(`the step type "${type}" is registered twice`);
  if (params.type !== "object") throw new Error(`the params of the step type "${type}" must be a Type.Object({ … })`);
  const checked = checkerOf(params);
  types.set(type, {
    type,
    doc,
    params,
    privilege,
    // An expression without a result is null: an optional parameter is then left out, as in the body of a POST.
    run: async (call) => run({ ...call, params: checked(givenFields(params, call.params)) }),
  });
}
