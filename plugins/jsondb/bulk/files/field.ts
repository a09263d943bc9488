/** The field that a column becomes, by its type and by what its format says of it. Pure. */
import { withColors } from "../../databases/choices.ts";

/** What the values of a column are beyond their type. */
export const kinds = ["money", "percent", "email", "url", "phone", "rating", "choice"] as const;
export type ColumnKind = (typeof kinds)[number];

const typesOf: Readonly<Record<ColumnKind, readonly string[]>> = {
  money: ["number"],
  percent: ["number"],
  email: ["string", "text"],
  url: ["string", "text"],
  phone: ["string", "text"],
  rating: ["integer"],
  choice: ["string", "list"],
};

export function isKindOf(kind: string | undefined, type: string): kind is ColumnKind {
  const known = kinds.find((one) => one === kind);
  return known !== undefined && typesOf[known].includes(type);
}

/** Of a choice. */
export const mostValues = 200;

interface Told {
  readonly type?: string | undefined;
  readonly kind?: string | undefined;
  readonly currency?: string | undefined;
}

interface Options {
  readonly format?: Exclude<ColumnKind, "choice">;
  readonly currency?: string;
  readonly choices?: readonly object[];
}

/** `told`: the format of the column. Where it says the type, an amount is money only if its kind says so. */
export function optionsOf(type: string, { type: said, kind, currency }: Told, values: readonly string[]): Options {
  const isMoney = kind === "money" || (said === undefined && kind !== "percent");
  if (type === "number" && isMoney && currency !== undefined) return { format: "money", currency };
  if (!isKindOf(kind, type) || kind === "money") return {};
  return kind === "choice" ? { choices: withColors(values) } : { format: kind };
}
