/**
 * Who makes the changes of what runs now: it travels with the request or the job, and every transaction says it to
 * PostgreSQL, where the log of activity is written.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { Tx } from "../db/db.ts";
import { currentCausation } from "./causation.ts";

export interface Actor {
  /** Nobody in particular is `system`. */
  readonly kind: "person" | "app" | "flow" | "command";
  readonly account?: number | undefined;
  readonly user?: number | undefined;
  readonly login?: string | undefined;
  /** What people call them; not for the log, which keeps ids and logins. */
  readonly name?: string | undefined;
  readonly token?: number | undefined;
  /** The client's address, its browser or program, and the request's id. */
  readonly ip?: string | undefined;
  readonly agent?: string | undefined;
  readonly request?: string | undefined;
  readonly app?: string | undefined;
  /** The flow's process. */
  readonly process?: string | undefined;
  readonly command?: string | undefined;
  /** The way by which it came; not for the log. */
  readonly source?: Source | undefined;
}

export type Source = "api" | "studio" | "app" | "flow" | "import" | "public" | "mcp";

/** Made only when something is written: most requests write nothing. */
type ActorOf = () => Actor;

interface Acting {
  readonly actor?: ActorOf | undefined;
  /** Of what comes by another way than its request does. */
  readonly source?: Source | undefined;
}

const storage = new AsyncLocalStorage<Acting | undefined>();

/** Runs `run`, and all that it starts, as the work of this actor. */
export function withActor<T>(actor: ActorOf | undefined, run: () => T): T {
  return storage.run(actor && { ...storage.getStore(), actor }, run);
}

export function currentActor(): Actor | undefined {
  return storage.getStore()?.actor?.();
}

/** Runs `run`, and the requests that it makes within the process, as what comes by this way. */
export function withSource<T>(source: Source, run: () => T): T {
  return storage.run({ ...storage.getStore(), source }, run);
}

/** The way by which the changes come that this actor makes. */
export function sourceOf(actor: Actor | undefined): Source {
  return storage.getStore()?.source ?? actor?.source ?? (actor?.kind === "flow" ? "flow" : "api");
}

/** What follows from the log's own news has this among its causes. */
export const activityCause = "core.activity";

/** Whoever makes the changes, as the log of activity takes it; undefined = nobody in particular. */
export function actorText(): string | undefined {
  const actor = logged(currentActor());
  // Told to nobody: a webhook on the log whose receiver changes something would be told of that, and so on.
  const echo = currentCausation()?.chain.includes(activityCause) === true;
  return actor || echo ? JSON.stringify(echo ? { ...actor, echo } : actor) : undefined;
}

/** The part that the log of activity keeps. */
export function logged<T extends Actor | undefined>(actor: T): T {
  return actor && { ...actor, name: undefined, source: undefined };
}

/** Tells PostgreSQL, for this transaction. */
export async function sayActor(tx: Tx): Promise<void> {
  const actor = actorText();
  if (actor !== undefined) await tx`select set_config('corestead.actor', ${actor}, true)`;
}
