/** What a flow's starts give it, and what starts it again. Pure. */
import type { Start } from "studio";
import { isMap, ownOf } from "studio/exact";

type Row = Readonly<Record<string, unknown>>;

export const ofRecords = "Core::Record";

/** What a flow is given by one of these. `latest`: the record that a webhook might tell of, or what a hook has got. */
export function sampleOf({ kind, id, source, event, db, table }: Start, latest: Row | undefined): Row {
  if (kind === "cron") return { kind, cron_id: Number(id) };
  if (kind === "hook")
    return { kind, hook_id: Number(id), id: "", message_id: null, headers: {}, query: {}, body: {}, ...latest };
  const { data, ...rest } = latest ?? { data: {} };
  const about = db === "" ? {} : { db_code: db, table_name: table === "" ? null : table };
  return { kind, source_type: source, event, data: { ...(isMap(data) ? data : {}), ...about, ...rest } };
}

/** A step that makes its own flow start again, and the start that it meets. */
export interface Loop {
  readonly path: string;
  readonly start: Start;
}

const eventOf: Readonly<Record<string, string>> = { create: "create", update: "update", delete: "destroy" };

/**
 * Steps that write what the flow waits for. One that gives a field of the start's conditions another value is none: then
 * the record does not fit any more. Nor is one that leaves alone what has to change.
 */
export function loopsOf(
  steps: readonly { readonly path: string; readonly step: unknown }[],
  starts: readonly Start[],
): Loop[] {
  return steps.flatMap(({ path, step }) => {
    if (!isMap(step) || step["type"] !== "db") return [];
    const data = isMap(step["data"]) ? step["data"] : {};
    const start = starts.find(
      ({ source, event, db, table, filter, changed }) =>
        source === ofRecords &&
        (event !== "update" || changed.length === 0 || changed.some((name) => Object.hasOwn(data, name))) &&
        event === ownOf(eventOf, String(step["op"])) &&
        db === step["db"] &&
        (table === "" || typeof step["table_name"] !== "string" || step["table_name"] === table) &&
        !Object.entries(filter).some(([name, value]) => isOther(data[name], value)),
    );
    return start ? [{ path, start }] : [];
  });
}

/** A value that is known before the flow runs, and is not this one. */
function isOther(given: unknown, value: unknown): boolean {
  return (
    given !== undefined &&
    !(typeof given === "string" && given.includes("{")) &&
    JSON.stringify(given) !== JSON.stringify(value)
  );
}
