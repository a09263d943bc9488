/** What changes or deletes all records that the filters of a list find. Pure. */

export interface Bulk {
  readonly op: "update" | "delete";
  readonly data?: Readonly<Record<string, unknown>>;
}

/** The order of the list does not matter, and without any filter one must say that all are meant. */
export function bulkCall(
  query: URLSearchParams,
  { op, data }: Bulk,
): { search: string; body: Record<string, unknown> } {
  const asked = new URLSearchParams([...query].filter(([name]) => name !== "sort"));
  const search = asked.toString();
  return {
    search: search === "" ? "" : `?${search}`,
    body: { op, ...(data && { data }), ...(search === "" && { all: true }) },
  };
}
