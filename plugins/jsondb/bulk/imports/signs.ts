/**
 * Whether the decimals of a column stand behind points or commas. `1.234` is read as it stands, unless another row of its
 * column has a decimal comma: then it may be 1234. Rows arrive one by one, so such rows are known at the end. Pure.
 */
import type { FieldType } from "../../databases/columns.ts";
import type { Place, RowFault } from "./rows.ts";

export interface Signs {
  /** Looks at a text that stands for a number. */
  see(field: string, type: FieldType | undefined, text: string, at: Place): void;
  /** The row is refused for another reason. */
  drop(row: number): void;
  doubtful(): Doubtful;
}

/** The rows with a number that may be meant otherwise than it was read. */
export interface Doubtful {
  readonly count: number;
  readonly has: (row: number) => boolean;
  /** Of the first of them, by rows. */
  readonly faults: readonly (readonly RowFault[])[];
}

export const noDoubt: Doubtful = { count: 0, has: () => false, faults: [] };

interface Seen {
  readonly place: Place;
  readonly text: string;
}

interface Column {
  /** The first value with a decimal comma, or with points between its groups. */
  comma: Seen | undefined;
  readonly rows: RowSet;
  readonly first: Seen[];
}

/** As many as a task keeps. */
const mostFaults = 10_000;
const longestNumber = 40;

/** Whether it may be a number with decimals or groups: almost every cell is none. */
export function hasSign(text: string): boolean {
  return text.length <= longestNumber && text.charCodeAt(0) < 0x3a && (text.includes(".") || text.includes(","));
}

export function createSigns(): Signs {
  const columns = new Map<string, Column>();
  return {
    see(field, type, text, place) {
      const sign = type === "number" || type === "integer" ? signOf(type, text.trim()) : undefined;
      if (sign === undefined) return;
      const column = columns.get(field) ?? { comma: undefined, rows: createRowSet(), first: [] };
      columns.set(field, column);
      if (sign === "comma") column.comma ??= { place, text: text.trim() };
      else {
        column.rows.add(place.row);
        if (column.first.length < mostFaults) column.first.push({ place, text: text.trim() });
      }
    },
    drop(row) {
      for (const { rows } of columns.values()) rows.delete(row);
    },
    doubtful() {
      const mixed = [...columns].flatMap(([field, { comma, ...column }]) =>
        comma ? [{ field, comma, ...column }] : [],
      );
      const faults = mixed.flatMap(({ field, comma, rows, first }) =>
        first
          .filter(({ place }) => rows.has(place.row))
          .map(({ place, text }) => faultOf(field, { place, text }, comma)),
      );
      const byRow = [...Map.groupBy(faults, ({ row }) => row)].toSorted(([one], [other]) => one - other);
      const [first, ...others] = mixed.map(({ rows }) => rows);
      for (const other of others) first?.addAll(other);
      const has = (row: number) => first?.has(row) ?? false;
      return { count: first?.count() ?? 0, has, faults: byRow.slice(0, mostFaults).map(([, all]) => all) };
    },
  };
}

function faultOf(field: string, { place, text }: Seen, comma: Seen): RowFault {
  const other = Number(text.replace(".", ""));
  const message = `"${text}" can be read as ${Number(text)} or as ${other}, because row ${comma.place.row} has "${comma.text}": say by \`formats\` how the column is written`;
  return { ...place, field, message };
}

const pointed = /^[-+\u2212]?[1-9]\d{0,2}\.\d{3}$/;
const grouped = /^[-+\u2212]?\d{1,3}(?:\.\d{3}){2,}$/;
const ambiguous = /^[-+\u2212]?[1-9]\d{0,2},\d{3}$/;
const commaForm = /^[-+\u2212]?[\d. \u00a0\u202f'’]*,\d+$/;

/** Undefined of what says nothing about the others of its column. */
function signOf(type: FieldType, text: string): "comma" | "point" | undefined {
  // Whole numbers have no decimals, so the point of 1.234 stands between groups.
  if (pointed.test(text)) return type === "integer" && !text.endsWith("000") ? "comma" : "point";
  return grouped.test(text) || (commaForm.test(text) && !ambiguous.test(text)) ? "comma" : undefined;
}

/** A bit for each row: an import may have many millions. */
interface RowSet {
  add(row: number): void;
  delete(row: number): void;
  has(row: number): boolean;
  addAll(other: RowSet): void;
  count(): number;
  readonly bits: Uint8Array;
}

function createRowSet(): RowSet {
  let bits = new Uint8Array(128);
  const grow = (bytes: number) => {
    if (bytes <= bits.length) return;
    const more = new Uint8Array(Math.max(bytes, 2 * bits.length));
    more.set(bits);
    bits = more;
  };
  const at = (row: number) => bits[row >> 3] ?? 0;
  return {
    get bits() {
      return bits;
    },
    add(row) {
      grow((row >> 3) + 1);
      bits[row >> 3] = at(row) | (1 << (row & 7));
    },
    delete(row) {
      if (row >> 3 < bits.length) bits[row >> 3] = at(row) & ~(1 << (row & 7));
    },
    has: (row) => (at(row) & (1 << (row & 7))) !== 0,
    addAll(other) {
      grow(other.bits.length);
      for (const [byte, more] of other.bits.entries()) if (more !== 0) bits[byte] = (bits[byte] ?? 0) | more;
    },
    count() {
      let count = 0;
      for (const byte of bits) for (let rest = byte; rest !== 0; rest &= rest - 1) count += 1;
      return count;
    },
  };
}
