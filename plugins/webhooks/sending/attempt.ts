/** One attempt to deliver: to an address, a connector or a flow. A failure is an outcome, not an exception. No SQL. */
import {
  causationHeader,
  causationToHeader,
  OutboundFault,
  parseExactly,
  parseRetryAfter,
  withCausation,
} from "platform";
import type { Causation, OutboundResponse } from "platform";
import type { Webhooks } from "../context.ts";
import { refusal } from "../subscriptions/rights.ts";
import { signatureOf } from "../subscriptions/sign.ts";
import type { Hook } from "../subscriptions/subscriptions.ts";

/** The message that is delivered. */
export interface OutgoingMessage {
  /** Of its delivery; a test has none yet. */
  readonly id?: number;
  readonly messageId: string;
  readonly sourceType: string;
  readonly kind: string;
  /** The record as JSON. */
  readonly body: string;
  readonly causation: Causation | null;
  readonly test?: boolean;
}

export interface Outcome {
  readonly ok: boolean;
  readonly status: number | null;
  readonly body: string | null;
  readonly error: string | null;
  readonly retryAfterSeconds: number | null;
  readonly durationMs: number;
  readonly attemptedAt: Date;
  /** The receiver asked for nothing more (410). */
  readonly gone: boolean;
  /** The receiver did not answer in time. */
  readonly timedOut: boolean;
}

/** behaviour B.8: the first 4 KB of an answer are kept. */
const keptBytes = 4096;

type Result = Pick<Outcome, "ok" | "status" | "body" | "error" | "retryAfterSeconds"> & { readonly timedOut?: boolean };

type Tools = Pick<Webhooks, "fetch" | "targets" | "timeoutMs"> & { readonly signal: AbortSignal };

const sendTo = { url: toUrl, connector: toConnector, flow: toFlow };

/** Rejects only with the reason of the caller's own signal. */
export async function attempt(
  { fetch, targets, timeoutMs, rights }: Pick<Webhooks, "fetch" | "targets" | "timeoutMs" | "rights">,
  hook: Hook,
  message: OutgoingMessage,
  signal: AbortSignal,
): Promise<Outcome> {
  const attemptedAt = new Date();
  const started = performance.now();
  let result: Result;
  try {
    if (hook.fault !== null) throw new Error(hook.fault);
    // Checked for each attempt: rights may have changed since the delivery was queued, or first sent.
    const refused = await refusal(rights, hook.row, message.sourceType, () => eventOf(message).data);
    if (refused) throw new Error(refused.reason);
    const tools = { fetch, targets, timeoutMs, signal };
    result = await withCausation(message.causation ?? undefined, () =>
      sendTo[hook.row.targetKind](tools, hook, message),
    );
  } catch (error) {
    signal.throwIfAborted();
    result = failure(error);
  }
  const durationMs = performance.now() - started;
  const gone = hook.row.targetKind === "url" && result.status === 410;
  return { timedOut: false, ...result, body: result.body && storable(result.body), durationMs, attemptedAt, gone };
}

async function toUrl({ fetch, timeoutMs, signal }: Tools, hook: Hook, message: OutgoingMessage): Promise<Result> {
  const answer = await fetch(hook.row.url ?? "", {
    method: "POST",
    headers: await headersOf(hook, message),
    body: message.body,
    timeoutMs,
    maxBytes: keptBytes,
    overflow: "truncate",
    redirect: "refuse",
    signal,
  });
  const ok = answer.status >= 200 && answer.status < 300;
  const retryAfterSeconds = parseRetryAfter(answer.headers.get("retry-after"));
  return { ok, status: answer.status, body: answer.text(), error: ok ? null : refusalText(answer), retryAfterSeconds };
}

/** The headers of a delivery: Standard Webhooks, and ours. */
export async function headersOf({ keys, apiToken }: Hook, message: OutgoingMessage): Promise<Record<string, string>> {
  const timestamp = Math.floor(Date.now() / 1000);
  const valid = keys.filter(({ until }) => until > Date.now()).map(({ key }) => key);
  return {
    "content-type": "application/json; charset=utf-8",
    "webhook-id": message.messageId,
    "webhook-timestamp": `${timestamp}`,
    "webhook-signature": await signatureOf({ id: message.messageId, timestamp, body: message.body }, valid),
    "x-core-source-type": message.sourceType,
    "x-core-event": message.kind,
    ...(apiToken === null ? {} : { authorization: `Bearer ${apiToken}` }),
    ...(message.causation ? { [causationHeader]: causationToHeader(message.causation) } : {}),
    ...(message.test ? { "x-core-test": "true" } : {}),
  };
}

function refusalText({ status, headers }: OutboundResponse): string {
  if (status >= 300 && status < 400)
    return `redirect: the receiver answered ${status} to ${(headers.get("location") ?? "nowhere").slice(0, 500)}; redirects are not followed`;
  if (status === 410) return "gone: the receiver answered 410";
  const wait = headers.get("retry-after");
  return `status: the receiver answered ${status}${wait ? `, Retry-After: ${wait.slice(0, 100)}` : ""}`;
}

/** behaviour B.8: the connector's method named like the event's kind, else `default`, else its first. */
async function toConnector(
  { targets, timeoutMs, signal }: Tools,
  { row }: Hook,
  message: OutgoingMessage,
): Promise<Result> {
  const outcome = await targets.callForEvent({
    accountId: row.accountId,
    code: row.targetCode ?? "",
    event: eventOf(message),
    idempotencyKey: message.messageId,
    signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
  });
  if (!outcome) return nowhere(`no active connector "${row.targetCode}" has a method`);
  const { ok, status, data, error, retryAfterSeconds } = outcome;
  const body = data === null ? null : typeof data === "string" ? data : JSON.stringify(data);
  return { ok, status, body, error: ok ? null : (error ?? "the connector failed"), retryAfterSeconds };
}

async function toFlow({ targets }: Tools, { row }: Hook, message: OutgoingMessage): Promise<Result> {
  const { source_type, kind, data } = eventOf(message);
  const input = { kind: "webhook", source_type, event: kind, data };
  const by = { kind: "webhook", id: String(row.id), details: startedBy(message, data) } as const;
  const processId = await targets.startFlow({ accountId: row.accountId, code: row.targetCode ?? "", input, by });
  if (processId === undefined) return nowhere(`no active flow has the code "${row.targetCode}"`);
  const body = JSON.stringify({ flow_process_id: processId });
  return { ok: true, status: null, body, error: null, retryAfterSeconds: null };
}

/** Links from the process to the delivery and to its record. */
function startedBy({ id, sourceType, kind }: OutgoingMessage, data: Readonly<Record<string, unknown>>) {
  const { id: recordId, db_code: dbCode } = data;
  return {
    name: `${sourceType} ${kind}`,
    source_type: sourceType,
    event: kind,
    ...(id !== undefined && { delivery_id: id }),
    ...((typeof recordId === "string" || typeof recordId === "number") && { record_id: recordId }),
    ...(typeof dbCode === "string" && { db_code: dbCode }),
  };
}

function eventOf({ sourceType, kind, body }: OutgoingMessage) {
  const data = parseExactly(body) as Record<string, unknown>; // what an event tells is an object
  return { source_type: sourceType, kind, data };
}

function nowhere(error: string): Result {
  return { ok: false, status: null, body: null, error, retryAfterSeconds: null };
}

function failure(error: unknown): Result {
  const timeout = error instanceof Error && error.name === "TimeoutError";
  if (!(error instanceof OutboundFault))
    return {
      ...nowhere(
        `${timeout ? "timeout: " : ""}${error instanceof Error ? error.message : String(error)}`.slice(0, 2000),
      ),
      timedOut: timeout,
    };
  const { kind, message, status = null } = error;
  return { ...nowhere(`${kind}: ${message}`), status, timedOut: kind === "timeout" };
}

/** At most 4 KB, without characters that PostgreSQL's text cannot hold. */
function storable(text: string): string {
  return text.slice(0, keptBytes).toWellFormed().replaceAll("\0", "\ufffd");
}
