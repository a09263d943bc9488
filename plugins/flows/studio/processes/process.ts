/** A process as its page shows it. Pure. */
import { pathOfResult } from "../flow/trial/trial.ts";
import { isStep, stepAt, type Program } from "../flow/program/tree.ts";

export interface Starter {
  readonly kind: string;
  readonly id: string | null;
  readonly name?: string;
  readonly action?: string;
  readonly user_id?: number;
  readonly delivery_id?: number;
  readonly record_id?: string | number;
  readonly db_code?: string;
  readonly source_type?: string;
  readonly event?: string;
}

/** In a list, or as followers are told of it. */
export interface Row {
  readonly id: string;
  readonly flow_code: string;
  readonly status: "pending" | "finished" | "error";
  readonly error: string | null;
  readonly created_at: string;
  readonly finished_at: string | null;
  readonly started_by?: Starter | null;
  readonly trace_id?: string | null;
}

export interface Step {
  readonly id: string;
  readonly type: string;
  readonly status: Row["status"];
  readonly started_at: string;
  readonly finished_at: string | null;
  readonly output: unknown;
  readonly error: string | null;
  readonly warnings?: readonly string[];
  readonly input?: unknown;
  readonly attempts?: number;
}

export interface Process extends Row {
  readonly input: Readonly<Record<string, unknown>>;
  readonly data: unknown;
  readonly steps: readonly Step[];
  readonly usage?: { readonly input_tokens: number; readonly output_tokens: number };
}

/** A program that the flow has or had. */
export type Version = Readonly<{ program: Program; created_at: string }>;

/** Of a program, the step that one of a run is of; undefined for one of another type, or of a called flow. */
export function stepOf(program: Program, { id, type }: Pick<Step, "id" | "type">): unknown {
  const path = pathOfResult(program, id);
  const step = path === undefined ? undefined : stepAt(program, path);
  return isStep(step) && step["type"] === type ? step : undefined;
}

/** Of those, latest first, the one that it began with, or a later one with which it was tried again. */
export function programOf({ created_at: began, steps }: Process, versions: readonly Version[]): Program {
  const first = versions.findIndex((one) => Date.parse(one.created_at) <= Date.parse(began));
  const since = versions.slice(0, first < 0 ? undefined : first + 1).toReversed();
  const isOf = ({ program }: Version) =>
    steps.every((step) => pathOfResult(program, step.id) === undefined || stepOf(program, step) !== undefined);
  return (since.find(isOf) ?? since[0])?.program ?? [];
}

interface TimeSpent {
  readonly from: string;
  /** Null = it goes on. */
  readonly to: string | null;
  readonly now: number;
  readonly language: string;
}

/** `12 ms`, `1.5 s`, `3 min 5 s`, `2 h 10 min`, `4 d 1 h`: two units at most. */
export function spentOf({ from, to, now, language }: TimeSpent): string {
  const ms = Math.max(0, (to === null ? now : Date.parse(to)) - Date.parse(from));
  if (!Number.isFinite(ms)) return "";
  const unit = (value: number, name: string, digits = 0) =>
    new Intl.NumberFormat(language, {
      style: "unit",
      unit: name,
      unitDisplay: "short",
      maximumFractionDigits: digits,
    }).format(value);
  if (ms < 1000) return unit(Math.round(ms), "millisecond");
  if (ms < 60_000) return unit(Math.floor(ms / 100) / 10, "second", 1);
  const seconds = Math.floor(ms / 1000);
  const pairs = [
    ["day", 86_400, "hour", 3600],
    ["hour", 3600, "minute", 60],
    ["minute", 60, "second", 1],
  ] as const;
  const [large, size, small, part] = pairs.find(([, one]) => seconds >= one) ?? pairs[2];
  const rest = Math.floor((seconds % size) / part);
  return [unit(Math.floor(seconds / size), large), ...(rest > 0 ? [unit(rest, small)] : [])].join(" ");
}

/** A preview of a value, and its length in characters. */
export interface ValuePreview {
  readonly text: string;
  readonly chars: number;
  /** The server keeps only the beginning. */
  readonly isPreview: boolean;
}

/** Undefined for nothing. */
export function shownOf(value: unknown): ValuePreview | undefined {
  if (value === null || value === undefined) return undefined;
  const preview = previewOf(value);
  if (preview) return { text: preview.preview, chars: preview.chars, isPreview: true };
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
  return text === "" || text === "{}" ? undefined : { text, chars: text.length, isPreview: false };
}

function previewOf(value: unknown): { preview: string; chars: number } | undefined {
  if (typeof value !== "object" || value === null || !("truncated" in value) || !("preview" in value)) return undefined;
  const chars = "chars" in value && typeof value.chars === "number" ? value.chars : 0;
  return typeof value.preview === "string" ? { preview: value.preview, chars } : undefined;
}

/** What people read of a step's input first: what it puts in, without what its sentence says already. */
export function putInOf({ type, input }: Step): unknown {
  const { params, data, id } = mapOf(input);
  if (type === "connector") return params;
  if (type === "http") return mapOf(input)["body"] ?? mapOf(input)["query"];
  if (type === "flow") return mapOf(input)["input"];
  if (type !== "db") return input;
  return data ?? params ?? (id === undefined ? undefined : { id });
}

/** `POST https://example.com/orders` */
export function requestSaid({ input }: Step): string {
  const { method = "GET", url = "" } = mapOf(input);
  return `${String(method)} ${String(url)}`;
}

/** The resource that a step reaches: its address in the Studio and its name. */
export interface ReachedStep {
  readonly kind: "connector" | "flow" | "record" | "db";
  readonly name: string;
  /** Below the Studio's base. */
  readonly address: string;
}

export function reachedBy({ type, input, output }: Step): ReachedStep | undefined {
  const given = mapOf(input);
  const code = (name: string) => {
    const value = given[name];
    return typeof value === "string" && value !== "" ? value : undefined;
  };
  const [connector, flow, db] = [code("connector"), code("flow"), code("db")];
  if (type === "connector" && connector !== undefined)
    return {
      kind: "connector",
      name: [connector, code("method")].filter(Boolean).join("."),
      address: `/connect/connectors/${encodeURIComponent(connector)}`,
    };
  if (type === "flow" && flow !== undefined)
    return { kind: "flow", name: flow, address: `/connect/flows/${encodeURIComponent(flow)}` };
  if (type !== "db" || db === undefined) return undefined;
  const id = mapOf(output)["id"] ?? given["id"];
  const isGone = given["op"] === "delete";
  return typeof id === "string" && !isGone
    ? { kind: "record", name: db, address: recordAddress(db, id) }
    : { kind: "db", name: db, address: `/core/dbs/${encodeURIComponent(db)}/records` };
}

const mostReached = 20;

/** Resources that a process has reached, each once. */
export function allReached(steps: readonly Step[]): ReachedStep[] {
  const found = steps.flatMap((step) => reachedBy(step) ?? []).filter(({ kind }) => kind !== "flow");
  return [...new Map(found.map((one) => [`${one.name} ${one.address}`, one])).values()].slice(0, mostReached);
}

export function recordAddress(db: string, id: string): string {
  return `/core/dbs/${encodeURIComponent(db)}/records?open=${encodeURIComponent(id)}`;
}

/** One thing on the way to a process. */
export interface Origin {
  readonly kind: "record" | "webhook" | "hook" | "delivery" | "cron" | "app" | "person" | "token" | "flow" | "command";
  readonly name: string;
  readonly address: string | undefined;
}

/** From the first cause to what started the process itself; `said`: that in words, `table`: that of its record. */
export function originsOf(by: Starter | null | undefined, said = "", table = by?.db_code): Origin[] {
  if (!by) return [];
  const { kind, id, name = "" } = by;
  const key = encodeURIComponent(id ?? "");
  if (kind === "webhook") return webhookOrigins(by, key, said, table);
  if (kind === "cron") return [...personOf(by), { kind, name: name || `${id}`, address: `/account/crons/${key}` }];
  if (kind === "app") {
    const app = { kind, name: [name || id, by.action].filter(Boolean).join(" · "), address: `/core/apps/${key}` };
    return [...personOf(by), { ...app, kind: "app" }];
  }
  if (kind === "hook") return [{ kind, name: name || `${id}`, address: `/connect/hooks/${key}` }];
  if (kind === "person") return [{ kind, name: name || `${id}`, address: `/account/people/${key}` }];
  if (kind === "flow") return [{ kind, name: shortId(`${id}`), address: `/connect/processes/${key}` }];
  return [{ kind: "command", name: id ?? name, address: undefined }];
}

function webhookOrigins(by: Starter, key: string, said: string, table = ""): Origin[] {
  const { id, record_id: recordId, db_code: db, source_type: type = "", delivery_id: delivery } = by;
  const isInTable = type === "Core::Record" && db !== undefined;
  const record: Origin[] =
    recordId === undefined
      ? []
      : [
          {
            kind: "record",
            name: `${isInTable ? table : ""} ${shortId(String(recordId))}`.trim(),
            address: isInTable ? recordAddress(db, String(recordId)) : undefined,
          },
        ];
  const hook: Origin = { kind: "webhook", name: said || `${id}`, address: `/account/webhooks/${key}` };
  const sent: Origin[] =
    delivery === undefined
      ? []
      : [{ kind: "delivery", name: `${delivery}`, address: `/account/webhooks/${key}/deliveries/${delivery}` }];
  return [...record, hook, ...sent];
}

function personOf({ user_id: user }: Starter): Origin[] {
  return user === undefined ? [] : [{ kind: "person", name: `${user}`, address: `/account/people/${user}` }];
}

/** Ids that begin with their time differ at the end. */
export function shortId(id: string): string {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id) ? `…${id.slice(-8)}` : id;
}

function mapOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
}

export type Advice = "cancelledBy" | "timedOut" | "internal" | "busy" | "missing" | "refused" | "unreachable";

/** Advice on a known error, for the person who fixes it. */
export function adviceOf(error: string | null): Advice | undefined {
  if (error === null) return undefined;
  if (error === "cancelled") return "cancelledBy";
  if (error === "internal error") return "internal";
  if (error === "timed out" || error.startsWith("no answer within")) return "timedOut";
  if (error.startsWith("no connection")) return "unreachable";
  const status = Number(/^the remote answered (\d{3})/.exec(error)?.[1] ?? Number.NaN);
  if (status === 404 || status === 410) return "missing";
  if (status === 429 || status >= 500) return "busy";
  return status >= 400 ? "refused" : undefined;
}

const around = new Set(["if", "each", "try", "parallel", "flow"]);

/** Why a failed step is not what failed: it was tried again below, or a step inside of it did. */
export function asideOf(steps: readonly Step[], at: number): "triedAgain" | "failedInside" | undefined {
  const step = steps[at];
  if (step?.status !== "error") return undefined;
  if (steps.slice(at + 1).some(({ id }) => id === step.id)) return "triedAgain";
  const isInside = (one: Step) => one !== step && one.status === "error" && one.error === step.error;
  return around.has(step.type) && steps.some(isInside) ? "failedInside" : undefined;
}

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
