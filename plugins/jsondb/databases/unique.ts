/** Unique fields: which they are, and by which keys equal values are found. behaviour B.7.28. Pure. */
import { isObject } from "platform";
import { fieldTypes, type FieldType } from "./columns.ts";
import type { Schema } from "./schema.ts";

/** The keys of one field of one table, from when it became unique until it is no longer. */
export interface KeySet {
  readonly table: string;
  readonly field: string;
  readonly id: string;
  readonly type: FieldType;
  /** Every record has its key. Before that, writes already write theirs, and are refused if one is taken. */
  readonly filled: boolean;
  /** When it was begun. */
  readonly since?: string | undefined;
}

/** What a statement needs to write the key of a value, or to look for it. */
export interface Claim {
  readonly set: KeySet;
  /** The record that has the value. */
  readonly id: string;
  readonly value: string;
}

export function keySetsOf(stored: unknown): readonly KeySet[] {
  return Array.isArray(stored) ? stored.flatMap(setOf) : [];
}

function setOf(value: unknown): KeySet[] {
  if (!isObject(value)) return [];
  const { table, field, id, filled, since } = value;
  const type = fieldTypes.find((one) => one === value["type"]);
  if (typeof table !== "string" || typeof field !== "string" || typeof id !== "string" || !type) return [];
  return [{ table, field, id, type, filled: filled === true, ...(typeof since === "string" && { since }) }];
}

export type UniqueField = Pick<KeySet, "table" | "field" | "type">;

export function uniqueFields({ tables }: Schema): UniqueField[] {
  return [...tables.values()].flatMap(({ name, unique, fields }) =>
    unique.flatMap((field) => {
      const type = fields.get(field)?.type;
      return type ? [{ table: name, field, type }] : [];
    }),
  );
}

/**
 * The sets that a schema goes on with, and the fields that have none yet. `ready` have just been filled; others that are
 * not filled stay as they are.
 */
export function setsFor(
  stored: readonly KeySet[],
  schema: Schema,
  ready: ReadonlySet<string> = new Set(),
): { kept: KeySet[]; missing: UniqueField[] } {
  const sets = stored.map((set) => (ready.has(set.id) ? { ...set, filled: true } : set));
  const wanted = uniqueFields(schema);
  const isFor = (set: KeySet) => (one: UniqueField) =>
    one.table === set.table && one.field === set.field && one.type === set.type;
  const kept = sets.filter((set) => !set.filled || wanted.some(isFor(set)));
  return { kept, missing: wanted.filter((one) => !kept.some((set) => set.filled && isFor(set)(one))) };
}

/** The keys of the values that data has in these sets. */
export function claimsOf(sets: readonly KeySet[], id: string, data: Readonly<Record<string, unknown>>): Claim[] {
  return sets.flatMap((set) => {
    const value = Object.hasOwn(data, set.field) ? data[set.field] : undefined;
    if (value === undefined || value === null || value === "") return [];
    return [{ set, id, value: typeof value === "string" ? value : JSON.stringify(value) }];
  });
}

export const isTaken = "is already taken";
