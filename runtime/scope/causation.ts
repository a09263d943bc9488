/**
 * What led to what: every event carries the id of the change at the root, how deep below it stands, and the events on
 * the way. It travels record -> webhook -> flow -> HTTP, so that a loop stops with an error that names it.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { OutboundRequest } from "../outbound/outbound.ts";
import type { Secrets } from "../base/secrets.ts";
import { uuidv7 } from "../base/values.ts";

export interface Causation {
  /** The same for all that follows from one change. */
  readonly id: string;
  readonly depth: number;
  /** Ids of the events from the root to here. */
  readonly chain: readonly string[];
}

/** Events deeper than this are refused. */
export const maxDepth = 16;

const storage = new AsyncLocalStorage<Causation | undefined>();

/** The causation of what runs now, or undefined at a root. */
export function currentCausation(): Causation | undefined {
  return storage.getStore();
}

/** Runs `run` as a consequence; `undefined` makes it a root, whatever started it. */
export function withCausation<T>(causation: Causation | undefined, run: () => T): T {
  return storage.run(causation, run);
}

/** The causation of an event that is emitted now. Throws where that would be deeper than `maxDepth`. */
export function causationOf(eventId: string): Causation {
  const parent = storage.getStore();
  const chain = [...(parent?.chain ?? []), eventId];
  const depth = (parent?.depth ?? 0) + 1;
  if (depth > maxDepth) throw new LoopError(chain);
  return { id: parent?.id ?? uuidv7(), depth, chain };
}

/** An event that would stand deeper than `maxDepth`: most likely a handler that causes its own event. */
export class LoopError extends Error {
  override readonly name = "LoopError";
  readonly code = "event_loop";
  readonly chain: readonly string[];
  constructor(chain: readonly string[]) {
    super(`events follow from each other more than ${maxDepth} deep: ${chain.join(" -> ")}`);
    this.chain = chain;
  }
}

/** The header that carries it. */
export const causationHeader = "x-core-causation";

/** The causation as a header's value: `<id>;<depth>;<event>,<event>`. */
export function causationToHeader({ id, depth, chain }: Causation): string {
  return `${id};${depth};${chain.join(",")}`;
}

/** Reads `causationToHeader`; undefined for what is not one. */
export function causationFromHeader(value: string | null): Causation | undefined {
  const match = /^([\w-]{1,64});(\d{1,3});([\w.:,/-]{0,4000})$/.exec(value ?? "");
  if (!match) return undefined;
  const [, id = "", depth = "", chain = ""] = match;
  return { id, depth: Number(depth), chain: chain === "" ? [] : chain.split(",").slice(0, maxDepth + 1) };
}

const purpose = "events.causation/1";

/**
 * The request with its header signed, if it has one: it is believed only then. Otherwise a stranger could say that a
 * change stands so deep that nothing may follow from it, or that it follows from the log of activity, which is told to
 * nobody.
 */
export function sealed({ sign }: Pick<Secrets, "sign">, request: OutboundRequest): OutboundRequest {
  const value = request.headers?.[causationHeader];
  if (value === undefined) return request;
  return { ...request, headers: { ...request.headers, [causationHeader]: sign(purpose, value) } };
}

/** Reads such a header; undefined for what is not ours. */
export function readSealed({ verify }: Pick<Secrets, "verify">, header: string | null): Causation | undefined {
  return header === null ? undefined : causationFromHeader(verify(purpose, header) ?? null);
}
