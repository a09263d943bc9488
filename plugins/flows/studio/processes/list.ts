/** Which processes belong into the list. Pure. */
import type { Row } from "./process.ts";

/** Whether a process that has just begun or changed is one that the address asks for. */
export function belongs(row: Row, search: URLSearchParams): boolean {
  const asked = (name: string) => search.get(name) ?? "";
  const is = (name: string, value: unknown) => asked(name) === "" || asked(name) === value;
  const by = row.started_by;
  const starter = asked("started_by");
  const made = Date.parse(row.created_at);
  return (
    is("flow_code", row.flow_code) &&
    is("status", row.status) &&
    (starter === "" || starter === by?.kind || starter === `${by?.kind}:${by?.id}`) &&
    (asked("record_id") === "" || asked("record_id") === String(by?.record_id)) &&
    (asked("from") === "" || made >= Date.parse(asked("from"))) &&
    (asked("to") === "" || made < Date.parse(asked("to"))) &&
    (asked("trace_id") === "" || [row.trace_id, row.id].includes(asked("trace_id")))
  );
}
