/** The first request of the list of processes. Pure. */
const path = "/connect/flow_processes.json";
/** As the list of the kit asks for its rows. */
const pageSize = "50";
const filters = ["flow_code", "status", "started_by", "from", "to", "trace_id", "record_id"];

/** Sent with every request: the rows come first, and their steps are for their own page. */
export const also = { count: "false", steps: "false", include: "started_by" };

/** The address of the first rows, so that they are on their way before the page is. */
export function rowsFor(search: URLSearchParams): string {
  if (search.has("sort")) return `${path}?limit=1`; // sorted here: all that is asked for then differs
  const asked = [...search].filter(([name, value]) => (filters.includes(name) || name === "offset") && value !== "");
  return `${path}?${new URLSearchParams([...asked, ["limit", pageSize], ...Object.entries(also)])}`;
}
