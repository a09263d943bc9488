/** Step types of other plugins: registered in `setup`, checked when a flow is saved, run like calls of connectors. */
import { checkerOf, givenFields, isObject, Type, ValidationError, type TObject, type TSchema } from "platform";
import type { StepRun, StepType } from "../api.ts";
import { isFlat, isPlain } from "./program.ts";
import { isTemplate } from "./template.ts";

/** A registered type with any parameters. */
export interface OwnStepType {
  readonly type: string;
  readonly doc: string;
  readonly params: TObject;
  readonly privilege: StepType["privilege"] | undefined;
  readonly allow?: StepType["allow"];
  readonly check?: StepType["check"];
  readonly ended?: StepType["ended"];
  readonly sample?: StepType["sample"];
  readonly isPure?: true;
  /** Throws a ValidationError for parameters that do not fit the schema. */
  readonly run: (call: StepRun<unknown>) => Promise<unknown>;
}

export type StepTypes = ReadonlyMap<string, OwnStepType>;

/** The dot distinguishes them from built-in types, also from those of later versions. */
const typeName = /^[a-z][a-z0-9-]{0,39}\.[a-z][a-z0-9_-]{0,59}$/;

export function registerStep<P extends TObject>(
  types: Map<string, OwnStepType>,
  { type, doc, params, privilege, allow, check, run, ended, sample, isPure }: StepType<P>,
): void {
  if (!typeName.test(type) && !isFlat(type))
    throw new Error(`the step type "${type}" must be <plugin>.<name>, in lower case, like shopping-list.notify`);
  if (types.has(type)) throw new Error(`the step type "${type}" is registered twice`);
  if (params.type !== "object") throw new Error(`the params of the step type "${type}" must be a Type.Object({ … })`);
  const checked = checkerOf(params);
  types.set(type, {
    type,
    doc,
    params,
    privilege,
    ...(allow && { allow }),
    ...(check && { check }),
    ...(ended && { ended }),
    ...(sample && { sample }),
    ...(isPure && { isPure }),
    // An expression without a result is null: an optional parameter is then left out, as in the body of a POST.
    run: async (call) => run({ ...call, params: checked(givenFields(params, call.params)) }),
  });
}

export interface ParamMistake {
  /** Within the params: `.to[0]`. */
  readonly place: string;
  readonly message: string;
}

/** The mistakes at one key of a step whose parameters stand beside its type. */
export function keyMistakes(
  { params: { properties }, check }: OwnStepType,
  step: Readonly<Record<string, unknown>>,
  key: string,
): ParamMistake[] {
  const property = properties[key];
  const isText = isPlain(step["type"], key);
  const found = property ? (isText ? constantMistakes : mistakesOf)(property, step[key], "") : [];
  if (found.length > 0 || !check) return found;
  const plain = Object.entries(step).filter(([, value]) => !hasTemplate(value));
  return (check(Object.fromEntries(plain))[key] ?? []).map((message) => ({ place: "", message }));
}

/** The privilege that saving the step needs. */
export function privilegeFor({ privilege }: Pick<OwnStepType, "privilege">, step: object): string | undefined {
  return typeof privilege === "function" ? privilege({ ...step }) : privilege;
}

export function paramMistakes(schema: TObject, given: unknown): ParamMistake[] {
  if (given !== undefined && given !== null && !isObject(given)) return []; // reported already
  return objectMistakes(schema, given ?? {}, "", true);
}

function mistakesOf(schema: TSchema, value: unknown, place: string): ParamMistake[] {
  if (!hasTemplate(value)) return constantMistakes(schema, value, place);
  // A template is checked when the step runs; the constants beside it can be checked now.
  if (isObject(value)) return objectMistakes(schema, value, place, schema["additionalProperties"] === false);
  const items: unknown = schema["items"];
  if (!Array.isArray(value) || !isSchema(items)) return [];
  return value.flatMap((one, at) => mistakesOf(items, one, `${place}[${at}]`));
}

function objectMistakes(
  schema: TSchema,
  value: Readonly<Record<string, unknown>>,
  place: string,
  closed: boolean,
): ParamMistake[] {
  const properties: Readonly<Record<string, unknown>> = isObject(schema["properties"]) ? schema["properties"] : {};
  const required = Array.isArray(schema["required"]) ? schema["required"].map(String) : [];
  const names = Object.keys(properties).join(", ");
  const unknown = names === "" ? "is unknown: the step takes no params" : `is unknown; the params are ${names}`;
  const missing = required.filter((key) => !Object.hasOwn(value, key));
  const inside = Object.entries(value).flatMap(([key, one]): ParamMistake[] => {
    const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
    const here = `${place}.${key.slice(0, 60)}`;
    if (!isSchema(property)) return closed ? [{ place: here, message: unknown }] : [];
    return one === null && !required.includes(key) ? [] : mistakesOf(property, one, here);
  });
  return [...missing.map((key) => ({ place: `${place}.${key}`, message: "is required" })), ...inside];
}

function constantMistakes(schema: TSchema, value: unknown, place: string): ParamMistake[] {
  try {
    checkerOf(Type.Object({ value: schema }))({ value });
    return [];
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    return (error.fields["value"] ?? []).map((message) => ({ place, message }));
  }
}

function hasTemplate(value: unknown): boolean {
  if (isTemplate(value)) return true;
  return typeof value === "object" && value !== null && Object.values(value).some(hasTemplate);
}

function isSchema(value: unknown): value is TSchema {
  return isObject(value);
}
