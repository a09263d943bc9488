/** The kinds of steps: what a new one begins with, the fields of its form, and one line about it. Pure. */
/* oxlint-disable unicorn/no-thenable -- a step of a flow has a branch of that name */
import { isStep, type Branch, type Step } from "./tree.ts";
import { shownValue } from "./text.ts";

export type FieldKind =
  | "connector"
  | "method"
  | "db"
  | "table"
  | "flow"
  | "op"
  /** A text with `{{ expressions }}`. */
  | "template"
  /** A bare expression, with completion of names. */
  | "expression"
  | "condition"
  /** Name to value. */
  | "map"
  | "value"
  /** A name that the result gets. */
  | "name"
  | "number"
  | "retry";

export interface StepField {
  readonly key: string;
  readonly kind: FieldKind;
  readonly required?: boolean;
}

const kinds = ["connector", "mutation", "if", "db", "each", "flow", "return", "fail", "wait"] as const;
export type Kind = (typeof kinds)[number] | "own";
export { kinds };

export const ops = ["create", "update", "delete", "get", "search"] as const;

const fields: Readonly<Record<Kind, readonly StepField[]>> = {
  connector: [
    { key: "connector", kind: "connector", required: true },
    { key: "method", kind: "method", required: true },
    { key: "params", kind: "map" },
    { key: "as", kind: "name" },
  ],
  mutation: [{ key: "set", kind: "map", required: true }],
  if: [{ key: "condition", kind: "condition", required: true }],
  db: [],
  each: [
    { key: "in", kind: "expression", required: true },
    { key: "as", kind: "name" },
    { key: "concurrency", kind: "number" },
  ],
  flow: [
    { key: "flow", kind: "flow", required: true },
    { key: "input", kind: "map" },
    { key: "as", kind: "name" },
  ],
  return: [{ key: "value", kind: "value" }],
  fail: [{ key: "message", kind: "template" }],
  wait: [{ key: "seconds", kind: "value", required: true }],
  own: [
    { key: "params", kind: "map" },
    { key: "as", kind: "name" },
  ],
};

const common: readonly StepField[] = [
  { key: "description", kind: "template" },
  { key: "id", kind: "name" },
  { key: "timeout", kind: "number" },
  { key: "retry", kind: "retry" },
];

const starts: Readonly<Record<Exclude<Kind, "own">, Step>> = {
  connector: { type: "connector", connector: "", method: "", params: {} },
  mutation: { type: "mutation", set: {} },
  if: { type: "if", condition: "", then: [] },
  db: { type: "db", op: "create", db: "", data: {} },
  each: { type: "each", in: "", do: [] },
  flow: { type: "flow", flow: "", input: {} },
  return: { type: "return", value: "" },
  fail: { type: "fail", message: "" },
  wait: { type: "wait", seconds: 60 },
};

export function startOf(type: string): Step {
  const kind = kinds.find((one) => one === type);
  return kind ? starts[kind] : { type, params: {} };
}

/** `own` for those that plugins add; undefined for what is no step. */
export function kindOf(step: unknown): Kind | undefined {
  const type = isStep(step) ? step["type"] : undefined;
  if (typeof type !== "string") return undefined;
  return kinds.find((one) => one === type) ?? (type.includes(".") ? "own" : undefined);
}

/** The fields of a step's form, and those that most steps leave alone. */
export function fieldsOf(step: Step): { readonly main: readonly StepField[]; readonly more: readonly StepField[] } {
  const kind = kindOf(step);
  if (!kind) return { main: [], more: common };
  if (kind !== "db") return { main: fields[kind], more: common };
  const op = ops.find((one) => one === step["op"]);
  const isOfOne = op === "get" || op === "update" || op === "delete";
  return {
    main: [
      { key: "op", kind: "op", required: true },
      { key: "db", kind: "db", required: true },
      ...(isOfOne ? [{ key: "id", kind: "template", required: true } as const] : []),
      ...(op === "get" || op === "delete" ? [] : [{ key: "table_name", kind: "table" } as const]),
      ...(op === "create" || op === "update"
        ? [{ key: "data", kind: "map", required: op === "create" || step["increment"] === undefined } as const]
        : []),
      ...(op === "update"
        ? ([
            { key: "increment", kind: "map" },
            { key: "if", kind: "map" },
          ] as const)
        : []),
      ...(op === "search" ? [{ key: "params", kind: "map" } as const] : []),
      ...(op === "search" || op === "get" ? [{ key: "expand", kind: "value" } as const] : []),
      ...(op === "delete" ? [] : [{ key: "as", kind: "name" } as const]),
    ],
    more: common.filter(({ key }) => key !== "id" || !isOfOne),
  };
}

/** The branches that a step can get, beside those that it has. */
export function furtherBranches(step: Step): Branch[] {
  return (["else", "on_error"] as const).filter(
    (branch) => !Array.isArray(step[branch]) && (branch === "on_error" || step["type"] === "if"),
  );
}

const icons = {
  connector: "plug",
  mutation: "tag",
  if: "units",
  db: "database",
  each: "refresh",
  flow: "flow",
  return: "good",
  fail: "wrong",
  wait: "waiting",
  own: "box",
} as const;

/** The picture of a kind, of the Studio's. */
export function iconOf(kind: Kind | undefined): (typeof icons)[Kind] | "warn" {
  return kind ? icons[kind] : "warn";
}

const lineChars = 120;

/** A step's action in one line. */
export function lineOf(step: unknown): string {
  if (!isStep(step)) return shownValue(step).slice(0, lineChars);
  return ownLine(step).replaceAll(/\s+/g, " ").slice(0, lineChars);
}

function ownLine(step: Step): string {
  const at = (key: string) => shownValue(step[key]).slice(0, 2 * lineChars);
  const result = at("as") === "" ? "" : ` → ${at("as")}`;
  switch (kindOf(step)) {
    case "connector":
      return `${at("connector")}${at("method") === "" ? "" : `.${at("method")}`}${result}`;
    case "mutation":
      return isStep(step["set"]) ? Object.keys(step["set"]).join(", ") : at("set");
    case "if":
      return conditionLine(step["condition"]);
    case "db":
      return `${at("op")} ${at("db")}${result}`;
    case "each":
      return `${at("as") || "item"} ← ${at("in")}`;
    case "flow":
      return `${at("flow")}${result}`;
    case "return":
      return at("value");
    case "fail":
      return at("message");
    case "wait":
      return `${at("seconds")} s`;
    default:
      return `${at("type")}${result}`;
  }
}

function conditionLine(condition: unknown): string {
  if (!isStep(condition)) return shownValue(condition);
  return ["left", "op", "right"].map((side) => shownValue(condition[side])).join(" ");
}
