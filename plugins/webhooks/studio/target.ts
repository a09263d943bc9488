/** What a webhook is called, by what it waits for and what it does. */
import { menu, sentenceOf, textOf, webhookStart, type Tables } from "studio";
import { say } from "./words.ts";

type Row = Readonly<Record<string, unknown>>;

/** `A record of Orders is added`. */
export function whenOf(row: Row, tables: Tables): string {
  return sentenceOf(webhookStart(row), tables, true);
}

/** `Calls example.com`, `Runs the flow intake`. */
export function thenOf(row: Row): string {
  const code = textOf(row["target_code"]);
  if (row["target_kind"] === "flow") return say("runs", { target: menu.nameOf("flow", code) });
  if (row["target_kind"] === "connector") return say("uses", { target: code });
  const url = textOf(row["url"]);
  return say("calls", { target: URL.parse(url)?.host ?? url });
}

export function calledOf(row: Row, tables: Tables): string {
  return `${whenOf(row, tables)} → ${thenOf(row)}`;
}
