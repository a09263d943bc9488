/** Rows of an export to records as the API answers them (`printRecord`), made from bytes. Pure. */
import { printRecord } from "../../records/print.ts";
import { byteWriter } from "./export-bytes.ts";
import { forEachRow, type ExportPage } from "./export-rows.ts";

interface Ends {
  /** Before the first record, and between two. */
  readonly first: string;
  readonly between: string;
  /** After each. */
  readonly after: string;
}

/** What stands around the parts of a record. */
interface Around {
  readonly id: Uint8Array;
  readonly data: Uint8Array;
  readonly createdAt: Uint8Array;
  readonly updatedAt: Uint8Array;
  readonly end: Uint8Array;
}

const mark = "\u0001";
const reserved = 200;
const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

export function jsonRows({ first, between, after }: Ends): (page: ExportPage) => Uint8Array<ArrayBuffer> {
  const writer = byteWriter();
  const arounds = new Map<string, Around>();
  const separator = encoder.encode(between);
  const ending = encoder.encode(after);
  let before = encoder.encode(first);

  const aroundOf = (tableName: string): Around => {
    const known = arounds.get(tableName);
    if (known) return known;
    const made = around(tableName);
    arounds.set(tableName, made);
    return made;
  };
  const none = aroundOf("");
  return (page) => {
    forEachRow(page, (id, time, table, endOfTable, data, endOfData) => {
      const parts = endOfTable === table ? none : aroundOf(decoder.decode(page.tableNames.subarray(table, endOfTable)));
      writer.reserve(endOfData - data + parts.createdAt.length + reserved);
      writer.copy(before);
      before = separator;
      writer.copy(parts.id);
      writer.id(page.ids, id);
      writer.copy(parts.data);
      writer.copy(page.data, data, endOfData);
      writer.copy(parts.createdAt);
      writer.time(page.createdAt, time);
      writer.copy(parts.updatedAt);
      writer.time(page.updatedAt, time);
      writer.copy(parts.end);
      writer.copy(ending);
    });
    return writer.taken();
  };
}

function around(tableName: string): Around {
  const printed = printRecord({ id: mark, createdAt: mark, updatedAt: mark, tableName, data: mark }, "nested");
  const [id, data, createdAt, updatedAt, end] = printed.split(mark).map((part) => encoder.encode(part));
  if (!id || !data || !createdAt || !updatedAt || !end) throw new Error("a record is not printed with all its parts");
  return { id, data, createdAt, updatedAt, end };
}
