/** What a kind of step says of itself, and what all of them have in common. Pure. */
import type words from "../text/en.json";
import { isStep, type Branch, type Step } from "./tree.ts";

export type Word = keyof typeof words;

export type FieldKind =
  | "connection"
  | "action"
  /** The method of a request over HTTP. */
  | "verb"
  /** A table: the code of a database, and `table_name` where it has several. */
  | "table"
  | "flow"
  /** A text with `{{ expressions }}`. */
  | "template"
  /** A bare expression, with completion of names. */
  | "expression"
  | "condition"
  /** Name to value. */
  | "map"
  /** What a search asks for. */
  | "search"
  | "value"
  /** A name that the result gets. */
  | "name"
  | "number"
  | "retry"
  /** JavaScript. */
  | "source"
  /** The event that a step waits for, which is several keys of it. */
  | "event"
  /** Of a question: whom it is for, what can be chosen, what is to be filled in, days, and one of the choices. */
  | AskFieldKind;

export type AskFieldKind = "subjects" | "choices" | "asked" | "days" | "choice";
export const askFieldKinds: readonly string[] = [
  "subjects",
  "choices",
  "asked",
  "days",
  "choice",
] satisfies AskFieldKind[];

export interface StepField {
  readonly key: string;
  readonly kind: FieldKind;
  readonly label: Word;
  readonly help?: Word;
  readonly required?: boolean;
}

export const groups = ["data", "outside", "people", "logic", "time", "code"] as const;

/** A part of a step's sentence: a key of the step, shown as what it is. */
export type Piece =
  | "table"
  | "connection"
  | "action"
  | "flow"
  | "condition"
  | "template"
  | "names"
  | "where"
  | "subjects"
  | "event"
  | "seconds";

export interface StepKind {
  readonly id: string;
  readonly group: (typeof groups)[number];
  readonly icon: string;
  readonly color: string;
  readonly title: Word;
  readonly about: Word;
  /** `ofConnection`: the kind of service that a connection leads to. */
  readonly is: (step: Step, ofConnection: (code: string) => string | undefined) => boolean;
  /** Only connections of this kind are offered. */
  readonly service?: string;
  readonly start: Step;
  readonly fields: readonly StepField[];
  /** Its sentence, and the keys of the step in it. */
  readonly says: Word;
  readonly pieces: Readonly<Record<string, readonly [piece: Piece, key: string]>>;
}

type Type = { readonly type: string };
export const isOf = (wanted: Type & { readonly op?: string }) => (step: Step) =>
  step["type"] === wanted.type && (wanted.op === undefined || step["op"] === wanted.op);
/** One that has no connection yet is told by the action that it will call. */
export const isCall =
  (service: string | undefined, action: string) => (step: Step, of: (code: string) => string | undefined) => {
    if (step["type"] !== "connector") return false;
    if (service === undefined) return true;
    const { connector, method } = step;
    return typeof connector === "string" && connector !== "" ? of(connector) === service : method === action;
  };

/** What most steps leave alone. */
const common: readonly StepField[] = [
  { key: "id", kind: "name", label: "idLabel", help: "idHelp" },
  { key: "timeout", kind: "number", label: "timeoutLabel", help: "timeoutHelp" },
  { key: "retry", kind: "retry", label: "retryTimes" },
];

/** Below the fields of its kind; the `id` of some steps on records is that of the record. */
export function furtherFields({ fields }: StepKind): readonly StepField[] {
  return common.filter(({ key }) => !fields.some((field) => field.key === key));
}

/** The branch that can be added to those that run at once. */
export function nextBranch({ type, branches }: Step): Branch | undefined {
  return type === "parallel" && Array.isArray(branches) && branches.length < 10
    ? `branches[${branches.length}]`
    : undefined;
}

/** The value at a key, or at one within it: `params.to`. */
export function pieceAt(step: Step, key: string): unknown {
  return key.split(".").reduce<unknown>((value, part) => (isStep(value) ? value[part] : undefined), step);
}

/** The variable that a new step of this kind keeps its result in, unlike those that there are. */
export function startOf(kind: StepKind, taken: readonly string[]): Step {
  const { as } = kind.start;
  if (typeof as !== "string") return kind.start;
  const name = [as, ...Array.from({ length: 500 }, (_, at) => `${as}${at + 2}`)].find((one) => !taken.includes(one));
  return { ...kind.start, as: name ?? as };
}
