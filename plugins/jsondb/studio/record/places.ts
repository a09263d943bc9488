/** Addresses in the Studio of what belongs to a record. */
import { recordAddress } from "../paths.ts";
import type { LinkedList } from "./linked.svelte.ts";

/** All that link to a record by a field. */
export function linkedAddress({ db, tableName, field }: LinkedList, id: string): string {
  const query = new URLSearchParams();
  if (tableName !== null) query.set("table", tableName);
  query.set(`filter[${field}]`, id);
  return `${recordAddress(db, id).split("?")[0]}?${query}`;
}
