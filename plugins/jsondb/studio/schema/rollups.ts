/** What a rollup may be of: the links that lead to its table, and what can be worked out of the linking records. Pure. */
import { kindOf } from "../look/kinds.ts";
import type { FieldDraft } from "../schema.ts";
import { labelOf, type OtherTable } from "./tables.ts";

interface Incoming {
  /** As `rollup.of` names the linking field. */
  readonly of: string;
  readonly label: string;
  /** Those of the linking table. */
  readonly fields: readonly FieldDraft[];
}

/** `self`: the table, as links may name it. */
export function incoming(tables: readonly OtherTable[], self: readonly string[]): readonly Incoming[] {
  return tables.flatMap(({ value, label, fields }) =>
    fields
      .filter(({ more }) => self.includes(String(more?.["link"])))
      .map((field) => ({ of: `${value}.${field.name}`, label: `${label} · ${labelOf(field)}`, fields })),
  );
}

/** Times have a first and a last one, but no sum. */
export function measurable(fields: readonly FieldDraft[], op: string): readonly FieldDraft[] {
  const types = op === "min" || op === "max" ? ["number", "integer", "date", "datetime"] : ["number", "integer"];
  return fields.filter((field) => types.includes(field.type) && kindOf(field) !== "rollup");
}

/** The options of a field that shows this: an amount is shown as one. */
export function rollupFrom(
  { of, op = "count", field }: Readonly<Record<string, unknown>>,
  links: readonly Incoming[],
): Readonly<Record<string, unknown>> {
  const measured = links.find((one) => one.of === of)?.fields.find(({ name }) => name === field && op !== "count");
  const isTime = measured?.type === "date" || measured?.type === "datetime";
  const isMoney = measured?.more?.["format"] === "money";
  return {
    type: isTime ? "datetime" : "number",
    rollup: { of, op, ...(op !== "count" && typeof field === "string" && field !== "" && { field }) },
    format: isMoney ? "money" : undefined,
    currency: isMoney ? measured.more?.["currency"] : undefined,
  };
}
