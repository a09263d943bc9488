/** A flow as it is to be stored, and everything that is wrong with it. No SQL, no HTTP. */
import { isObject, mistakes, slugOf } from "platform";
import { codeMistake } from "../../connectors/api.ts";
import { schemaMistake } from "../../llm/api.ts";
import { checkProgram, mistakesOf } from "../program/check.ts";
import type { Alarm } from "../api.ts";
import type { StepTypes } from "../program/step-types.ts";
import type { Templates } from "../program/template.ts";

/** The parts of a flow that are checked. */
export interface UnstoredFlow {
  readonly code: string;
  readonly kind: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export const flowKind = "core/custom_flow";
const maxFieldsChars = 500_000;

/** Throws the 422 that names every mistake. `before`: the stored program, which may be older than a rule. */
export function checkFlow(
  { code, kind, fields }: UnstoredFlow,
  templates: Templates,
  stepTypes: StepTypes,
  before?: UnstoredFlow["fields"],
): void {
  const found = mistakes();
  const wrongCode = codeMistake(code);
  if (wrongCode !== undefined) found.add("code", wrongCode);
  if (kind !== flowKind) found.add("kind", `must be ${flowKind}`);
  if (JSON.stringify(fields).length > maxFieldsChars)
    found.add("fields", `may have at most ${maxFieldsChars} characters as JSON`);
  if (fields["tool"] === true && !isSame(fields, before))
    for (const [name, message] of toolMistakes(fields)) found.add(name, message);
  const alarm = isSame(fields["alarm"], before?.["alarm"]) ? undefined : readAlarm(fields["alarm"]);
  if (typeof alarm === "string") found.add("alarm", alarm);
  const program = programOf(fields);
  if (program === undefined) found.add("program", "is required in `fields`: an array of steps");
  else {
    const check = isSame(program, before && programOf(before))
      ? (...all: Parameters<typeof checkProgram>) => checkProgram(...all).mistakes
      : mistakesOf;
    for (const message of check(program, templates, stepTypes)) found.add("program", message);
  }
  found.check();
}

const maxDescription = 2000;

/** Mistakes in what agents read of a flow that is a tool of its own. */
function toolMistakes({ description, input }: UnstoredFlow["fields"]): [field: string, message: string][] {
  const wrong: [string, string][] = [];
  if (description !== undefined && (typeof description !== "string" || description.length > maxDescription))
    wrong.push(["description", `must be a text of at most ${maxDescription} characters`]);
  if (input === undefined) return wrong;
  const mistake = schemaMistake(input, ["pattern"]);
  if (!isObject(input)) wrong.push(["input", "must be a JSON Schema, an object"]);
  else if ((input["type"] ?? "object") !== "object")
    wrong.push(["input", "must be a JSON Schema whose `type` is object"]);
  else if (mistake !== undefined) wrong.push(["input", `must be a JSON Schema: ${mistake}`]);
  return wrong;
}

const person = /^(?:(?:user|team|department|group):[1-9]\d{0,14}|role:(?:admin|manager|user|guest))$/;

/** `fields.alarm`, or what is wrong with it. */
function readAlarm(given: unknown): Alarm | string | undefined {
  if (given === undefined || given === null) return undefined;
  const { after, to, ...others } = isObject(given) ? given : { others: given };
  if (Object.keys(others).length > 0) return "must be an object { after, to }";
  if (typeof after !== "number" || !Number.isInteger(after) || after < 1 || after > 100)
    return "after must be a whole number from 1 to 100";
  const all: readonly unknown[] = [to].flat();
  const people = all.filter((one) => typeof one === "string" && person.test(one)).map(String);
  if (people.length > 0 && people.length <= 20 && people.length === all.length) return { after, to: people };
  return "to must be user:7, team:3, department:2, group:4 or role:manager, or a list of up to 20";
}

/** Undefined for one that is older than the rule and wrong. */
export function alarmOf(fields: UnstoredFlow["fields"] = {}): Alarm | undefined {
  const alarm = readAlarm(fields["alarm"]);
  return typeof alarm === "string" ? undefined : alarm;
}

/** Anyone who can see a flow may stop it: a flow that only gets switched off is not checked again. */
export function onlySwitchesOff(patch: { readonly active?: boolean | undefined }): boolean {
  return patch.active === false && Object.keys(patch).length === 1;
}

/** The code of a new flow. If it was made from the name and is taken, a number is added. */
export function newCode({ code, name }: { readonly code?: string | null | undefined; readonly name: string }): string {
  return code || slugOf(name) || "flow";
}

/** JSON keeps the order of keys. */
export function isSame(given: unknown, before: unknown): boolean {
  return before !== undefined && JSON.stringify(given) === JSON.stringify(before);
}

export function programOf(fields: Readonly<Record<string, unknown>>): unknown {
  return fields["program"] ?? undefined;
}
