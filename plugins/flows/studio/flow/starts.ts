/** Triggers of a flow, and the input that they pass. Pure. */
import type { ScopeName } from "./program/scope.ts";

type Row = Readonly<Record<string, unknown>>;

export interface Start {
  readonly kind: "webhook" | "cron";
  readonly id: string;
  /** In one line: `Core::Record create, db_code orders`; the schedule of a cron. */
  readonly says: string;
  readonly active: boolean;
  /** The database whose records it tells of, and their table; "" where it is not said. */
  readonly db: string;
  readonly table: string;
}

export function webhookStart(row: Row): Start {
  const filter = isMap(row["filter"]) ? row["filter"] : {};
  const conditions = Object.entries(filter).map(([name, value]) => `${name} ${shown(value)}`);
  const isOfRecords = row["source_type"] === "Core::Record";
  return {
    kind: "webhook",
    id: shown(row["id"]),
    says: [`${shown(row["source_type"])} ${shown(row["kind"])}`, ...conditions].join(", ").slice(0, 120),
    active: row["active"] === true,
    db: isOfRecords ? shown(filter["db_code"]) : "",
    table: isOfRecords ? shown(filter["table_name"]) : "",
  };
}

export function cronStart(row: Row): Start {
  const says = [shown(row["schedule"]), shown(row["timezone"])].filter((part) => part !== "").join(", ");
  return { kind: "cron", id: shown(row["id"]), says, active: row["active"] === true, db: "", table: "" };
}

const ofWebhook = ["kind", "source_type", "event", "data"];
const ofRecord = ["id", "db_code", "table_name"];

/** The names that these starts give a flow; without any, those that a webhook would give. */
export function namesOf(
  starts: readonly Start[],
  fieldsOf: (db: string, table: string) => readonly string[],
): ScopeName[] {
  const webhooks = starts.filter(({ kind }) => kind === "webhook");
  const fields = webhooks.flatMap(({ db, table }) => (db === "" ? [] : [...fieldsOf(db, table), ...ofRecord]));
  const names = [...ofWebhook, ...[...new Set(fields)].map((field) => `data.${field}`)];
  return [
    ...(webhooks.length > 0 || starts.length === 0 ? names.map((name) => ({ name, from: "webhook" })) : []),
    ...(starts.some(({ kind }) => kind === "cron")
      ? [
          { name: "kind", from: "cron" },
          { name: "cron_id", from: "cron" },
        ]
      : []),
  ];
}

/** What a flow is given by one of these: an input to try it with. `latest`: the record that a webhook might tell of. */
export function sampleOf({ kind, id, says, db, table }: Start, latest: Row | undefined): Row {
  if (kind === "cron") return { kind, cron_id: Number(id) };
  const [source_type = "", event = ""] = says.split(",", 1)[0]?.split(" ") ?? [];
  const { data, ...rest } = latest ?? { data: {} };
  const about = db === "" ? {} : { db_code: db, table_name: table === "" ? null : table };
  return { kind, source_type, event, data: { ...(isMap(data) ? data : {}), ...about, ...rest } };
}

function shown(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

function isMap(value: unknown): value is Row {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
