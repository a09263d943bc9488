/** Saved views as they are kept. Pure. */
import { isMap } from "studio/exact";

export interface View {
  readonly name: string;
  /** The query of the address, without `?`. */
  readonly query: string;
}

/** Whatever else stands there is left out: it was not written here. */
export function viewsOf(value: unknown): View[] {
  const views = (Array.isArray(value) ? value : []).flatMap((one) =>
    isMap(one) && typeof one["name"] === "string" && typeof one["query"] === "string"
      ? [[one["name"], { name: one["name"], query: one["query"] }] as const]
      : [],
  );
  // A name stands once in the menu.
  return [...new Map(views).values()];
}

/** The part of an address that a view keeps: all but the open record. */
export function queryOfView(search: URLSearchParams): string {
  const query = new URLSearchParams(search);
  query.delete("open");
  return query.toString();
}
