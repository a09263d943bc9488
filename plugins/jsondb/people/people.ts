/** People in the rows of an import, who may be called by their login, e-mail address or name. No HTTP, no SQL. */
import type { Sql } from "platform";
import { valueFromText, type Row } from "../bulk/imports/rows.ts";
import type { Table } from "../databases/schema.ts";
import { peopleFields } from "../records/named.ts";
import * as peopleStore from "./store.ts";

/** The rows with the ids of people whom a text means, one alone; other values stay as they are. */
export async function withPeople(
  on: Sql,
  accountId: number,
  rows: readonly Row[],
  tableOf: (row: Row) => Table | undefined,
): Promise<readonly Row[]> {
  const texts = new Set<string>();
  const each = (change: (text: string) => unknown) =>
    rows.map((row): Row => {
      const table = tableOf(row);
      if ("fault" in row || !table) return row;
      const named = peopleFields(table).filter((name) => Object.hasOwn(row.data, name));
      if (named.length === 0) return row;
      const read = (name: string) => {
        const isList = table.fields.get(name)?.type === "list";
        const given = row.data[name];
        const value = isList && typeof given === "string" ? valueFromText("list", given) : given;
        if (Array.isArray(value)) return value.map((one: unknown) => (typeof one === "string" ? change(one) : one));
        return typeof value === "string" && !isList ? change(value) : value;
      };
      return { ...row, data: { ...row.data, ...Object.fromEntries(named.map((name) => [name, read(name)])) } };
    });
  each((text) => texts.add(keyOf(text)));
  const found = await peopleStore.byTexts(
    on,
    accountId,
    [...texts].filter((text) => text !== ""),
  );
  return each((text) => found.get(keyOf(text)) ?? (/^\s*\d{1,15}\s*$/.test(text) ? Number(text) : text));
}

const keyOf = (text: string) => text.trim().normalize("NFC").toLowerCase();
