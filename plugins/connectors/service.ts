/** Calls connectors for routes and other plugins: finds one, opens its secret and clears the answer of it. */
import {
  cacheKey,
  createTurns,
  find as findRow,
  parseCacheKey,
  SecretFault,
  sentenceOf,
  ValidationError,
  type BaseContext,
} from "platform";
import type {
  CallOutcome,
  ConnectorCall,
  ConnectorKind,
  Connectors,
  HttpAsked,
  KindCall,
  OpenConnector,
  ShownRequest,
} from "./api.ts";
import { isCode, maxTimeoutSeconds } from "./definition.ts";
import { Connector, secretPlace, type ConnectorRow } from "./connector.ts";
import { sendPlain } from "./plain.ts";
import { customKind } from "./custom.ts";
import { hidden, redact, redactText, Unkept, withoutSecret } from "./redact.ts";

/** A call, and the request that it was, if the connector's kind tells it. The secret is in neither. */
export interface TrialResult {
  readonly outcome: CallOutcome;
  readonly request: ShownRequest | null;
}

/** The service without `put`, which needs the writer. */
export interface Calls extends Omit<Connectors, "put"> {
  /** Undefined for an unknown connector or method, or an inactive connector. Throws a 422 for wrong parameters. */
  readonly tryOut: (
    call: Pick<ConnectorCall, "accountId" | "code" | "method" | "params">,
  ) => Promise<TrialResult | undefined>;
  /** The same of one that is not stored; its kind is known, and its definition checked. */
  readonly tryUnstored: (
    connector: OpenConnector & { readonly kind: string },
    call: Pick<ConnectorCall, "method" | "params">,
  ) => Promise<TrialResult | undefined>;
  readonly kinds: ReadonlyMap<string, ConnectorKind>;
  /** After a change has committed. */
  readonly forget: (accountId: number, codes: readonly string[]) => Promise<void>;
}

export function createCalls(ctx: Pick<BaseContext, "cache" | "fetch" | "log" | "secrets" | "sql">): Calls {
  const kinds = new Map<string, ConnectorKind>();
  const inTurn = createCallTurns();
  const cache = ctx.cache<ConnectorRow>({
    name: "connectors",
    max: 1000,
    load: async (key) => {
      const { accountId, name: code } = parseCacheKey(key);
      return findRow(Connector, ctx.sql, accountId, { code });
    },
  });
  const cached = async (accountId: number, code: string): Promise<ConnectorRow | undefined> => {
    if (!isCode(code)) return undefined;
    const key = cacheKey(accountId, code);
    return cache.peek(key) ?? (await cache.get(key));
  };
  const find = async (accountId: number, code: string): Promise<ConnectorRow | undefined> => {
    const row = await cached(accountId, code);
    return row?.active ? row : undefined;
  };
  const methodsOf = (row: ConnectorRow) => kinds.get(row.kind)?.methods(row.fields) ?? [];

  const call = async (row: ConnectorRow, kindCall: KindCall, asked?: HttpAsked): Promise<CallOutcome> => {
    const kind = kinds.get(row.kind);
    if (!kind) throw new Error(`no plugin here has the connector kind ${row.kind}`);
    const { accountId, code, url, fields } = row;
    let secret: string | null;
    try {
      secret = row.secretToken === null ? null : ctx.secrets.open(row.secretToken, secretPlace(row.id));
    } catch (fault) {
      if (!(fault instanceof SecretFault)) throw fault;
      ctx.log.error("the secret of a connector cannot be opened", { connector: row.id, error: fault });
      return failed("the connector's secret_token cannot be opened (was SECRET_KEY changed?): enter it again");
    }
    const { onText } = kindCall;
    const shown = onText && withoutSecret(onText, secret);
    const { id } = row;
    try {
      const outcome = await inTurn({ id, atOnce: kind.atOnce, ...kindCall }, () =>
        asked
          ? sendPlain(ctx.fetch, { accountId, code, url, fields, secret }, { asked, ...kindCall })
          : kind.call({ accountId, code, url, fields, secret }, { ...kindCall, onText: shown?.add }),
      );
      shown?.end();
      return hide(outcome, kind.echoes === false ? null : secret);
    } catch (error) {
      return told(error);
    }
  };

  const shown = ({ accountId, code, kind, url, fields, secretToken }: ConnectorRow, kindCall: KindCall) => {
    const secret = secretToken === null ? null : hidden;
    const request = kinds.get(kind)?.shown?.({ accountId, code, url, fields, secret }, kindCall);
    return request ? { ...request, url: request.url.replaceAll(encodeURIComponent(hidden), hidden) } : null;
  };

  return {
    kinds,
    async tryOut({ accountId, code, method, params }) {
      const row = await find(accountId, code);
      if (!row || !methodsOf(row).some(({ name }) => name === method)) return undefined;
      const maxSeconds = kinds.get(row.kind)?.maxSeconds ?? maxTimeoutSeconds;
      const kindCall = { method, params, timeoutMs: maxSeconds * 1000 };
      const request = shown(row, kindCall);
      return { request, outcome: await call(row, kindCall) };
    },
    async tryUnstored({ kind: name, ...open }, asked) {
      const kind = kinds.get(name);
      if (!kind?.methods(open.fields).some((one) => one.name === asked.method)) return undefined;
      const kindCall = { ...asked, timeoutMs: (kind.maxSeconds ?? maxTimeoutSeconds) * 1000 };
      const id = `unstored ${open.accountId}`;
      const outcome = await inTurn({ id, atOnce: kind.atOnce, ...kindCall }, () => kind.call(open, kindCall)).catch(
        told,
      );
      const request = kind.shown?.({ ...open, secret: open.secret === null ? null : hidden }, kindCall) ?? null;
      return { request, outcome: hide(outcome, open.secret) };
    },
    register: (kind) => void kinds.set(kind.name, kind),
    forget: async (accountId, codes) => {
      await Promise.all([...new Set(codes)].map((code) => cache.invalidate(cacheKey(accountId, code))));
    },
    exists: async (accountId, code) => (await cached(accountId, code)) !== undefined,
    kindOf: async (accountId, code) => (await find(accountId, code))?.kind,
    methodsOf: async (accountId, code) => {
      const row = await find(accountId, code);
      return row && methodsOf(row);
    },
    async call({ accountId, code, timeoutMs, ...rest }) {
      const row = await find(accountId, code);
      if (!row || !methodsOf(row).some(({ name }) => name === rest.method)) return undefined;
      const maxSeconds = kinds.get(row.kind)?.maxSeconds ?? maxTimeoutSeconds;
      return call(row, { ...rest, timeoutMs: timeoutMs ?? maxSeconds * 1000 });
    },
    async request({ accountId, code, asked, timeoutMs = maxTimeoutSeconds * 1000, signal, idempotencyKey }) {
      if (code === undefined)
        return inTurn({ id: `${accountId}`, timeoutMs, signal }, () =>
          sendPlain(ctx.fetch, undefined, { asked, idempotencyKey, timeoutMs, signal }),
        ).catch(told);
      const row = await find(accountId, code);
      if (row?.kind !== customKind) return undefined;
      return call(row, { method: "", params: {}, idempotencyKey, timeoutMs, signal }, asked);
    },
    async callForEvent({ accountId, code, event, idempotencyKey, signal }) {
      const row = await find(accountId, code);
      const methods = row ? methodsOf(row).filter(({ onlyByName }) => !onlyByName) : [];
      const method =
        methods.find(({ name }) => name === event.kind) ?? methods.find(({ name }) => name === "default") ?? methods[0];
      if (!row || !method) return undefined;
      const params = { ...event.data, event };
      try {
        const timeoutMs = maxTimeoutSeconds * 1000;
        return await call(row, {
          method: method.name,
          params,
          fallbackBody: event.data,
          idempotencyKey,
          signal,
          timeoutMs,
        });
      } catch (error) {
        // The record lacks a parameter of the method: the delivery has failed.
        if (!(error instanceof ValidationError)) throw error;
        return failed(sentenceOf(error.fields));
      }
    },
  };
}

const retryAfterSeconds = 5;

/** A call that was never sent. */
function failed(error: string): CallOutcome {
  return { ok: false, status: null, data: null, error, retryAfterSeconds: null, durationMs: 0 };
}

function hide(outcome: CallOutcome, secret: string | null): CallOutcome {
  const error = outcome.error === null ? null : redactText(outcome.error, secret);
  try {
    const { headers } = outcome;
    const shown =
      headers && Object.fromEntries(Object.entries(headers).map(([name, said]) => [name, redactText(said, secret)]));
    return { ...outcome, error, headers: shown, data: redact(outcome.data, secret) };
  } catch (fault) {
    if (!(fault instanceof Unkept)) throw fault;
    return { ...outcome, ok: false, error: fault.message, data: null };
  }
}

/** Of a kind that says nothing else. */
const standard = 100;
/** Calls that nobody's engine bounds, as those of requests. */
const mostWaiting = 200;

/** The call was not begun: others have not ended in its time, or too many wait already. */
class Busy extends Error {
  override name = "Busy";
}

/** Throws what is no `Busy`. */
function told(error: unknown): CallOutcome {
  if (!(error instanceof Busy)) throw error;
  return {
    ...failed("so many calls of this connector run already: try again later"),
    isBusy: true,
    retryAfterSeconds,
  };
}

interface TurnRequest {
  readonly id: string;
  readonly atOnce?: number | undefined;
  readonly timeoutMs: number;
  /** Of flows, webhooks and conversations, which are bounded where they are made: as many as there are may wait. */
  readonly signal?: AbortSignal | undefined;
}

/** Lets few calls of a connector run at a time in this process, whatever way they come. */
function createCallTurns() {
  const lines = new Map<string, { readonly turns: ReturnType<typeof createTurns>; calls: number }>();

  return async <T>({ id, atOnce = standard, timeoutMs, signal }: TurnRequest, run: () => Promise<T>): Promise<T> => {
    const line = lines.get(id) ?? { turns: createTurns(atOnce), calls: 0 };
    if (!signal && line.calls >= atOnce + mostWaiting) throw new Busy();
    lines.set(id, line);
    line.calls += 1;
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(new Busy()), timeoutMs);
    try {
      // It ends the waiting alone: what runs already has limits of its own.
      return await line.turns(run, signal ? AbortSignal.any([signal, late.signal]) : late.signal);
    } finally {
      clearTimeout(timer);
      line.calls -= 1;
      if (line.calls === 0) lines.delete(id);
    }
  };
}
