/** A message that arrives at a hook: proved, written down together with others, and only then given to its flow. */
import {
  badRequest,
  batched,
  databaseFault,
  failpoint,
  HttpError,
  invalid,
  isForm,
  job,
  notFound,
  parseJson,
  tooLarge,
  tooMany,
  uuidv7,
} from "platform";
import type { BaseContext, Cache, RequestInput, Tx } from "platform";
import type { Flows } from "../flows/api.ts";
import type { HookRow } from "./hook.ts";
import { secretHeader, verify, type Message, type Verdict } from "./schemes.ts";
import * as hookStore from "./store.ts";
import type { HookRef, NewArrival, WholeArrival } from "./store.ts";

export interface Hooks extends BaseContext {
  readonly flows: Flows;
  readonly hooks: Cache<HookRow>;
  /** Writes one message down, in a statement with others; its id, or that of the first with its message id. */
  readonly write: (arrival: NewArrival) => Promise<string>;
}

/** Starts the flow of a hook for all messages that wait. */
export const startFlows = job<HookRef>("hooks.start");

// Anybody may send what is refused: a hook keeps at most so much of it.
const refusalsPerDay = 1_000;
const refusedChars = 100_000;
const ratePerMinute = 60_000;
const mostHeaders = 40;
const headerChars = 1_000;
const mostAtOnce = 20;
const never = new Set(["authorization", "proxy-authorization", "cookie"]);

export function openHooks(ctx: BaseContext & { readonly services: { readonly flows: Flows } }): Hooks {
  const hooks = ctx.cache<HookRow>({
    name: "hooks",
    max: 10_000,
    load: (key) =>
      hookStore.hookByCode(ctx.sql, Number(key.slice(0, key.indexOf("/"))), key.slice(key.indexOf("/") + 1)),
  });
  const write = batched((arrivals: readonly NewArrival[]) => writeAll(ctx, arrivals), {
    most: 200,
    atOnce: 2,
    keyOf: ({ hookId, messageId, id }) => `${hookId} ${messageId ?? id}`,
  });
  return { ...ctx, flows: ctx.services.flows, hooks, write };
}

async function writeAll(ctx: BaseContext, arrivals: readonly NewArrival[]): Promise<string[]> {
  const written = await ctx.transaction((tx) => writeIn(ctx, tx, arrivals));
  failpoint("hooks.written");
  return arrivals.map(({ id }) => written.get(id) ?? "");
}

/** The ids under which they stand, by those that they were given; the flows of the new ones start after the commit. */
async function writeIn(ctx: BaseContext, tx: Tx, arrivals: readonly NewArrival[]): Promise<Map<string, string>> {
  const ids = await hookStore.insert(tx, arrivals);
  const taken = arrivals.filter(({ id, error }) => error === null && ids.get(id) === id);
  for (const { accountId, hookId } of new Map(taken.map((one) => [one.hookId, one])).values())
    await ctx.enqueue(startFlows, { accountId, hookId }, { tx, accountId, orderKey: `${accountId} ${hookId}` });
  return ids;
}

/** The hook of an address; 404 if there is none. */
export async function hookAt({ hooks }: Hooks, accountId: number, code: string): Promise<HookRow> {
  const hook = /^[A-Za-z0-9_-]{10,40}$/.test(code) ? await hooks.get(`${accountId}/${code}`) : undefined;
  if (!hook) throw notFound();
  return hook;
}

const switchedOff = "the hook was switched off";

/** A message that was taken. */
export interface Taken {
  readonly id: string;
  readonly isRepeated: boolean;
  /** The answer that Slack waits for when an address is entered there. */
  readonly challenge: string | undefined;
}

type Arriving = Pick<RequestInput, "request" | "query"> & { readonly bytes: Uint8Array<ArrayBuffer> };

/** 401 without the proof, 400 and 422 for a body that no flow could read, 429 above the hook's limit. */
export async function arrive(ctx: Hooks, hook: HookRow, { request, query, bytes }: Arriving): Promise<Taken> {
  const { headers } = request;
  const verdict = await proved(ctx, hook, { headers, body: bytes }, ctx.now());
  const text = new TextDecoder().decode(bytes);
  const arrival = {
    accountId: hook.accountId,
    hookId: hook.id,
    id: uuidv7(),
    contentType: headers.get("content-type"),
    headers: JSON.stringify(keptHeaders(headers, secretHeader(hook))),
    query: JSON.stringify(Object.fromEntries(query)),
    bytes: bytes.length,
    replayOf: null,
  };
  const refuse = async (error: HttpError, reason: string) => {
    const { allowed } = await ctx
      .limiter("hooks.refused", { limit: refusalsPerDay, windowSeconds: 86_400 })
      .take(`${hook.id}`);
    const body = text.slice(0, refusedChars).replaceAll("\0", "\u{FFFD}");
    if (allowed) await ctx.write({ ...arrival, messageId: null, error: reason, body });
    return error;
  };
  if ("refused" in verdict && !hook.active) throw notFound();
  if ("refused" in verdict) throw await refuse(new HttpError(401, { error: verdict.refused }), verdict.refused);
  // It is kept, as an example and to be replayed; whoever sends it learns no more than of an address that is not there.
  if (!hook.active) throw await refuse(notFound(), switchedOff);
  await withinRate(ctx, hook);
  try {
    const { challenge } = readable(hook, text, bytes, arrival.contentType);
    if (challenge !== undefined) return { id: arrival.id, isRepeated: false, challenge };
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    throw await refuse(error, error.status === 422 ? JSON.stringify(error.body) : error.message);
  }
  const id = await ctx.write({ ...arrival, messageId: verdict.messageId, error: null, body: text });
  if (id === "") throw notFound();
  return { id, isRepeated: id !== arrival.id, challenge: undefined };
}

/** By its secret, or for an hour by the one before. */
async function proved({ secrets, now }: Hooks, hook: HookRow, message: Message, at: Date): Promise<Verdict> {
  const open = (sealed: string | null) => (sealed === null ? null : secrets.open(sealed, `hook:${hook.id}:secret`));
  const verdict = await verify({ ...hook, secret: open(hook.secret) }, message, at);
  const { previousSecret, previousSecretUntil } = hook;
  if ("messageId" in verdict || previousSecret === null || (previousSecretUntil ?? 0) < now()) return verdict;
  const before = await verify({ ...hook, secret: open(previousSecret) }, message, at);
  return "messageId" in before ? before : verdict;
}

/**
 * Gives an arrival to the flow once more; undefined if its hook is gone. One that was refused has to be proved first, by the secret as it is now and the
 * clock as it was then. Throws 422 if it still is not, or was not kept whole.
 */
export async function replay(ctx: Hooks, tx: Tx, hook: HookRow, row: WholeArrival): Promise<WholeArrival | undefined> {
  const { contentType, body, bytes } = row;
  let messageId: string | null = null;
  // What came while it was off had its proof then.
  if (row.status === "refused" && row.error !== switchedOff) {
    const kept = new TextEncoder().encode(body);
    if (kept.length !== bytes || secretHeader(hook) !== undefined)
      throw invalid({ base: ["what proves where it comes from was not kept: have it sent again"] });
    const verdict = await proved(ctx, hook, { headers: new Headers(row.headers), body: kept }, row.createdAt);
    if ("refused" in verdict) throw invalid({ base: [verdict.refused] });
    readable(hook, body, kept, contentType);
    messageId = verdict.messageId;
  }
  const [headers, query] = [JSON.stringify(row.headers), JSON.stringify(row.query)];
  const { accountId, id: hookId } = hook;
  const given = { accountId, hookId, id: uuidv7(), messageId, error: null, replayOf: row.id };
  const ids = await writeIn(ctx, tx, [{ ...given, contentType, headers, query, body, bytes }]);
  return hookStore.one(tx, given, ids.get(given.id) ?? given.id);
}

/** Throws the 400 or 422 for what could not be given to a flow. */
function readable(hook: HookRow, text: string, bytes: Uint8Array, type: string | null): { challenge?: string } {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw badRequest("the body is not valid UTF-8");
  }
  if (text.includes("\0")) throw badRequest("the body holds a NUL character");
  const body = bodyOf(text, type);
  if (hook.scheme !== "slack" || typeof body !== "object" || body === null) return {};
  const [kind, challenge] = ["type", "challenge"].map((key): unknown => Reflect.get(body, key));
  return kind === "url_verification" && typeof challenge === "string" ? { challenge } : {};
}

/** The hook's own limit, as shares of a common one. */
async function withinRate({ limiter }: Hooks, { id, rateLimit }: HookRow): Promise<void> {
  if (rateLimit === null) return;
  const common = limiter("hooks.arrivals", { limit: ratePerMinute, windowSeconds: 60 });
  const { allowed, retryAfterSeconds } = await common.take(`${id}`, Math.floor(ratePerMinute / rateLimit));
  if (!allowed) throw tooMany(retryAfterSeconds);
}

/** Without what carries a credential, and without what is too long to be kept. */
function keptHeaders(headers: Headers, secretName: string | undefined): Record<string, string> {
  const kept = [...headers].filter(
    ([name, value]) => !never.has(name) && name !== secretName && value.length <= headerChars,
  );
  return Object.fromEntries(kept.slice(0, mostHeaders));
}

/** JSON as its value, a form as its fields, anything else as text. 400 and 422 for JSON that cannot be read or stored. */
function bodyOf(text: string, type: string | null): unknown {
  const [media = ""] = (type ?? "").toLowerCase().split(";", 1);
  if (media === "application/x-www-form-urlencoded" && isForm(type)) return formOf(text);
  if (media.endsWith("/json") || media.endsWith("+json")) return text === "" ? null : parseJson(text);
  return text;
}

/** Slack sends JSON in the field `payload`. */
function formOf(text: string): Record<string, unknown> {
  const fields: Record<string, unknown> = Object.fromEntries(new URLSearchParams(text));
  const { payload } = fields;
  return typeof payload === "string" && payload.startsWith("{") ? { ...fields, payload: parseJson(payload) } : fields;
}

/** Reads the bytes of a message. 413 above the hook's limit. */
export async function bytesOf({ maxBytes }: HookRow, request: Request): Promise<Uint8Array<ArrayBuffer>> {
  if (Number(request.headers.get("content-length")) > maxBytes) throw tooLarge(maxBytes);
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.byteLength;
    if (size > maxBytes) throw tooLarge(maxBytes);
    chunks.push(chunk.slice());
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}

/** Starts the flow for what waits, each message once: the process and the note of it are one transaction. */
export async function startWaiting(ctx: Hooks, place: HookRef): Promise<void> {
  while ((await startSome(ctx, place, mostAtOnce)) > 0 && !ctx.stopping.aborted);
}

async function startSome(ctx: Hooks, place: HookRef, most: number): Promise<number> {
  try {
    return await ctx.transaction(async (tx) => {
      const arrivals = await hookStore.waiting(tx, place, most);
      if (arrivals.length === 0) return 0;
      const settled: hookStore.Settled[] = [];
      const hook = await hookStore.hold(tx, place);
      for (const arrival of arrivals) {
        const input = { kind: "hook", hook_id: place.hookId, ...inputOf(arrival) };
        const by = {
          kind: "hook",
          id: `${place.hookId}`,
          details: { name: hook?.name, arrival_id: arrival.id },
        } as const;
        const flow = { accountId: place.accountId, code: hook?.flowCode ?? "", input, by, tx };
        const processId = (await ctx.flows.startFlow(flow)) ?? null;
        const error = processId === null ? `no active flow has the code "${hook?.flowCode}"` : null;
        settled.push({ id: arrival.id, processId, error });
      }
      await hookStore.settle(tx, place.accountId, settled);
      failpoint("hooks.starting");
      return settled.length;
    });
  } catch (error) {
    if (databaseFault(error) === "unavailable") throw error;
    // One that cannot be started keeps none of the others waiting.
    if (most > 1) return startSome(ctx, place, 1);
    ctx.log.error("a message of a hook cannot start its flow", { hook_id: place.hookId, error });
    return hookStore.giveUp(ctx.sql, place, error instanceof HttpError ? error.message : "internal error");
  }
}

function inputOf({ id, messageId, headers, query, body, contentType }: WholeArrival) {
  return { id, message_id: messageId, headers, query, body: bodyOf(body, contentType) };
}
