/** The things that somebody has opened last in this browser: their keys alone, as names are for those who may see them. */
import { isMap } from "../resources/values.ts";

const most = 12;

export interface Recent {
  readonly key: string;
  /** When, in milliseconds. */
  readonly at: number;
}

const nameOf = (person: number) => `corestead.recents.${person}`;

export function recents(person: number): Recent[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(nameOf(person)) ?? "[]");
    return (Array.isArray(kept) ? kept : []).flatMap((one) =>
      isMap(one) && typeof one["key"] === "string" && typeof one["at"] === "number"
        ? [{ key: one["key"], at: one["at"] }]
        : [],
    );
  } catch {
    return [];
  }
}

export function opened(person: number, key: string, at: number): void {
  const others = recents(person).filter((one) => one.key !== key);
  localStorage.setItem(nameOf(person), JSON.stringify([{ key, at }, ...others].slice(0, most)));
}
