/** Kinds of fields as they are offered: by everyday words, and as definitions of a schema. Pure. */
import { choiceColors, type Kind } from "../look/kinds.ts";
import type { say } from "../words.ts";

type Word = Parameters<typeof say>[0];

export const addable = [
  "text",
  "long",
  "number",
  "money",
  "percent",
  "rating",
  "choice",
  "choices",
  "yesno",
  "date",
  "datetime",
  "link",
  "email",
  "url",
  "phone",
  "file",
] as const satisfies readonly Kind[];
type Addable = (typeof addable)[number];

const offered = (kind: Kind): Addable => addable.find((one) => one === kind) ?? "text";

export const kindWord = (kind: Kind): Word => `kind_${offered(kind)}`;
export const whatWord = (kind: Kind): Word => `what_${offered(kind)}`;

/** Those whose name, explanation or everyday words begin with what was typed. */
export function foundKinds(typed: string, speak: (word: Word) => string): Kind[] {
  const wanted = typed.trim().toLocaleLowerCase();
  if (wanted === "") return [...addable];
  return addable.filter((kind) =>
    [speak(kindWord(kind)), speak(whatWord(kind)), speak(`find_${offered(kind)}`)]
      .join(" ")
      .toLocaleLowerCase()
      .split(/[\s,/]+/)
      .some((word) => word.startsWith(wanted)),
  );
}

interface Wishes {
  readonly label: string;
  readonly language: string;
  readonly values: readonly string[];
  readonly currency: string;
  readonly target: string;
  readonly several: boolean;
}

export function definitionOf(kind: Kind, wishes: Wishes): Record<string, unknown> {
  return { ...typeOf(kind, wishes), label: { [wishes.language]: wishes.label.trim() } };
}

function typeOf(kind: Kind, { values, currency, target, several }: Wishes): Record<string, unknown> {
  switch (kind) {
    case "long":
      return { type: "text" };
    case "number":
      return { type: "number" };
    case "money":
      return { type: "number", format: "money", currency };
    case "percent":
      return { type: "number", format: "percent" };
    case "rating":
      return { type: "integer", format: "rating" };
    case "choice":
    case "choices":
      return { type: kind === "choice" ? "string" : "list", choices: choicesOf(values) };
    case "yesno":
      return { type: "boolean" };
    case "date":
    case "datetime":
      return { type: kind };
    case "link":
      return { type: several ? "list" : "string", link: target };
    case "email":
    case "url":
    case "phone":
    case "file":
      return { type: "string", format: kind };
    default:
      return { type: "string" };
  }
}

/** One a line, each in another colour. */
function choicesOf(lines: readonly string[]): { value: string; color: string }[] {
  const values = [...new Set(lines.map((line) => line.trim()).filter((line) => line !== ""))];
  return values.map((value, at) => ({ value, color: choiceColors[(at * 4 + 5) % choiceColors.length] ?? "sky" }));
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
