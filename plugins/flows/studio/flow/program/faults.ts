/** Where in a program a message of the server belongs: `program[2].then[0].connector is required`. Pure. */
import { rowsOf, stepAt, type Program } from "./tree.ts";

export interface FaultLocation {
  /** Of the step; "" is the whole program. */
  readonly path: string;
  /** The field of the step, and what is inside of it: `.city`. */
  readonly key: string;
  readonly inside: string;
  /** The message itself. */
  readonly said: string;
}

/** A message that goes with its step wherever that is moved, and is gone when the step is changed. */
export interface StepFault extends FaultLocation {
  readonly step: unknown;
}

const most = 500;
const inBranch = /^\.(then|else|do|catch|branches\[\d\]|on_error)\[/;

/** Undefined for a message that does not begin with a place in the program. */
export function locationOf(message: string): FaultLocation | undefined {
  const end = message.slice(0, most).search(/[ :]/);
  const whole = end === -1 ? message.slice(0, most) : message.slice(0, end);
  if (!/^program(?:$|[[.])/.test(whole)) return undefined;
  let rest = whole.slice("program".length);
  const parts: string[] = [];
  const index = () => {
    const close = rest.indexOf("]");
    const number = rest.startsWith("[") && close > 0 ? rest.slice(1, close) : "";
    if (!/^\d{1,6}$/.test(number)) return false;
    parts.push(number);
    rest = rest.slice(close + 1);
    return true;
  };
  for (let more = index(); more; more = index()) {
    const branch = inBranch.exec(rest)?.[1];
    if (branch === undefined) break;
    parts.push(branch);
    rest = rest.slice(branch.length + 1);
  }
  const [, key = ""] = /^\.?([^.[]{0,100})/.exec(rest) ?? [];
  return {
    path: parts.join("."),
    key,
    inside: rest.slice(key === "" ? 0 : key.length + 1),
    said: message.slice(whole.length).replace(/^:? /, ""),
  };
}

export function stepFaults(messages: readonly string[], program: Program): StepFault[] {
  return messages.flatMap((message) => {
    const place = locationOf(message);
    return place ? [{ ...place, step: place.path === "" ? undefined : stepAt(program, place.path) }] : [];
  });
}

/** The faults that still hold, each where its step is now. */
export function standing(faults: readonly StepFault[], program: Program): StepFault[] {
  if (faults.length === 0) return [];
  const paths = new Map(rowsOf(program).flatMap((row) => (row.kind === "step" ? [[row.step, row.path]] : [])));
  return faults.flatMap((fault) => {
    if (fault.path === "") return [fault];
    const path = paths.get(fault.step);
    return path === undefined ? [] : [{ ...fault, path }];
  });
}

/** As the server would say it of the program as it is now. */
export function messageOf({ path, key, inside, said }: FaultLocation): string {
  const place = path.split(".").map((part) => (/^\d/.test(part) ? `[${part}]` : part === "" ? "" : `.${part}`));
  return `program${place.join("")}${key === "" ? "" : `.${key}`}${inside} ${said}`;
}
