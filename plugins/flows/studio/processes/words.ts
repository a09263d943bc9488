import { catalogue, ownOf, sentenceOf, webhookStart, type Tables } from "studio";
import type { ReachedStep, Starter } from "./process.ts";
import de from "./text/de.json" with { type: "json" };
import en from "./text/en.json" with { type: "json" };
import pl from "./text/pl.json" with { type: "json" };

export const { say, texts } = catalogue(en, pl, de);

/** What a word of the API means: a state, a kind of starter. What is not known stays as it is. */
export function named(word: string): string {
  return ownOf(texts(), word) ?? word;
}

/** What those that steps reach are called. */
export interface Names {
  readonly tables: Tables;
  /** By their codes. */
  readonly connections: ReadonlyMap<string, { readonly name: string; readonly kind: string }>;
}

/** `Billing: issue`, `Orders`. */
export function reachedSaid({ kind, name }: ReachedStep, { tables, connections }: Names): string {
  if (kind === "flow") return name;
  if (kind !== "connector") return tables.table(name, "")?.label ?? name;
  const [code = "", ...method] = name.split(".");
  return [connections.get(code)?.name ?? code, method.join(".")].filter(Boolean).join(": ");
}

/** What started a run: `A record of Orders is added`, `schedule · Each morning`. */
export function startedBy(by: Starter | null | undefined, tables: Tables): string {
  if (!by) return "";
  const { kind, source_type, event, db_code } = by;
  if (kind === "webhook" && source_type !== undefined)
    return sentenceOf(webhookStart({ source_type, kind: event, filter: { db_code } }), tables, true);
  if (kind === "flow") return say("anotherRun");
  const name = by.name ?? by.action ?? by.id;
  return [named(kind), name].filter(Boolean).join(" · ");
}
