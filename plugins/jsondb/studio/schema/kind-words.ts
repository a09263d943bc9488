/** Kinds of fields as they are offered: by everyday words, and as definitions of a schema. Pure. */
import { withColors } from "../../databases/choices.ts";
import { kinds, type Kind } from "../look/kinds.ts";
import type { FieldType } from "../schema.ts";
import type { say } from "./words.ts";

type Word = Parameters<typeof say>[0];
export type Offered = Exclude<Kind, "list" | "none">;
export type Definition = Readonly<Record<string, unknown>>;

export const offered = kinds.filter((kind): kind is Offered => kind !== "list" && kind !== "none");

export const kindWord = (kind: Kind): Word => (kind === "none" ? "kind_text" : `kind_${kind}`);
export const whatWord = (kind: Offered): Word => `what_${kind}`;

/** Those whose name, explanation or everyday words begin with what was typed. */
export function foundKinds(typed: string, speak: (word: Word) => string): Offered[] {
  const wanted = typed.trim().toLocaleLowerCase();
  return offered.filter((kind) =>
    [speak(kindWord(kind)), speak(whatWord(kind)), speak(`find_${kind}`)]
      .join(" ")
      .toLocaleLowerCase()
      .split(/[\s,/]+/)
      .some((word) => word.startsWith(wanted)),
  );
}

/** What makes a field one of this kind. */
const made: Readonly<Record<Offered, Definition & { readonly type: FieldType }>> = {
  text: { type: "string" },
  long: { type: "text" },
  number: { type: "number" },
  money: { type: "number", format: "money", currency: "EUR" },
  percent: { type: "number", format: "percent" },
  rating: { type: "integer", format: "rating" },
  choice: { type: "string", choices: [] },
  choices: { type: "list", choices: [] },
  yesno: { type: "boolean" },
  date: { type: "date" },
  datetime: { type: "datetime" },
  link: { type: "string", link: "" },
  person: { type: "integer", format: "user" },
  email: { type: "string", format: "email" },
  url: { type: "string", format: "url" },
  phone: { type: "string", format: "phone" },
  file: { type: "string", format: "file" },
  rollup: { type: "number", rollup: { of: "", op: "count" } },
  time: { type: "time" },
};

/** What `formats` of an import say of a column that is to be of a kind. */
export function formatOf(kind: Offered, currency = "EUR"): Readonly<Record<string, string>> {
  const next = made[kind];
  const own = "choices" in next ? "choice" : next["format"];
  return {
    type: next.type,
    ...(typeof own === "string" && { kind: own }),
    ...("currency" in next && { currency }),
  };
}

/** A field as one of another kind: what both kinds have stays. */
export function asKind(before: Definition, kind: Offered): Definition {
  const { label, help, choices, currency, required } = before;
  const next = made[kind];
  const kept = { ...(label !== undefined && { label }), ...(help !== undefined && { help }) };
  return {
    ...next,
    ...kept,
    ...(required === true && kind !== "rollup" && { required }),
    ...("choices" in next && Array.isArray(choices) && { choices }),
    ...("currency" in next && typeof currency === "string" && { currency }),
  };
}

/** What is left to say of a new field, by its kind. */
interface Wishes {
  readonly label: string;
  readonly language: string;
  readonly values?: readonly string[];
  readonly currency?: string;
  readonly target?: string;
  readonly several?: boolean;
}

export function definitionOf(kind: Offered, wishes: Wishes): Definition {
  const { values = [], currency = "EUR", target = "", several = false } = wishes;
  const next = made[kind];
  return {
    ...next,
    ...("choices" in next && { choices: withColors(values) }),
    ...("currency" in next && { currency }),
    ...("link" in next && { link: target }),
    ...(several && (kind === "link" || kind === "person") && { type: "list" }),
    label: { [wishes.language]: wishes.label.trim() },
  };
}

/** Letters, digits and _, and none that is there already. */
export function nameFor(label: string, taken: readonly string[]): string {
  const plain = label
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    .toLowerCase()
    .replaceAll("ł", "l")
    .replaceAll("ß", "ss")
    .replaceAll(/[^a-z0-9]+/g, "_")
    .slice(0, 60);
  const name = plain.replaceAll(/^_|_$/g, "") || "field";
  let next = name;
  for (let n = 2; taken.includes(next); n++) next = `${name}_${n}`;
  return next;
}
