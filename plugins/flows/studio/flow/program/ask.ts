/** A question of a flow, as the builder changes it: whom it is for, what can be chosen, what is to be filled in. Pure. */
import { isMap, plainField, textOf, wordsIn, type TableField } from "studio";
import { say } from "../words.ts";
import type { Step } from "./tree.ts";

const subject = /^(?:(?:user|team|department|group):\d+|role:\w+)$/;

/** Those who are named by a list, and what else is said: an address, an expression. */
export function recipients(to: unknown): { readonly chosen: string[]; readonly other: string } {
  const said = [to].flat().flatMap((one) => textOf(one).split(/[,;]/));
  const words = said.map((one) => one.trim()).filter(Boolean);
  return {
    chosen: words.filter((one) => subject.test(one)),
    other: words.filter((one) => !subject.test(one)).join(", "),
  };
}

export function toOf(chosen: readonly string[], other: string): unknown {
  const all = [...chosen, ...(other.trim() === "" ? [] : [other])];
  return all.length > 1 ? all : (all[0] ?? "");
}

export interface AskChoice {
  readonly value: string;
  readonly label: string;
}

/** By default approve and decline. */
export function choicesOf(step: Step, language: string): AskChoice[] {
  const given = Array.isArray(step["choices"]) ? step["choices"] : [];
  if (given.length === 0)
    return [
      { value: "approve", label: say("askApprove") },
      { value: "decline", label: say("askDecline") },
    ];
  return given.map((one: unknown) => {
    const value = isMap(one) ? textOf(one["value"]) : textOf(one);
    return { value, label: (isMap(one) && wordsIn(one["label"], language)) || value };
  });
}

/** One a line; a line that stood there keeps its value and colour. */
export function choicesIn(lines: string, step: Step, language: string): unknown {
  const given: readonly unknown[] = Array.isArray(step["choices"]) ? step["choices"] : [];
  const before = new Map(choicesOf(step, language).map(({ label }, at) => [label, given[at]]));
  const all = [...new Set(lines.split("\n").map((line) => line.trim()))].filter(Boolean);
  return all.length === 0 ? undefined : all.map((line) => before.get(line) ?? line);
}

/** What the field of an answer may be, for conditions on it. */
export function askedField(step: Step, name: string, language = "en"): TableField | undefined {
  const last = name.split(".").at(-1) ?? "";
  if (name.split(".").at(-2) === "fields") {
    const fields = isMap(step["fields"]) ? step["fields"] : {};
    const own = isMap(fields[last]) ? fields[last] : { type: fields[last] };
    return plainField(last, wordsIn(own["label"], language) || last, textOf(own["type"]));
  }
  const choices = choicesOf(step, language).map((one) => ({ ...one, color: "" }));
  const label = say(
    last === "choice" ? "askChosen" : last === "comment" ? "askComment" : last === "at" ? "askAt" : "askBy",
  );
  // Of several questions each is told by its own.
  const about = textOf(step["description"]) || textOf(step["title"]);
  return {
    ...plainField(last, about === "" ? label : `${label}: ${about.slice(0, 40)}`),
    choices: last === "choice" ? choices : [],
  };
}
