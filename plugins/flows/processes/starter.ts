/** What started a process, and what it belongs to. Pure, but for whoever asks now. */
import { currentActor, currentCausation, type Causation } from "platform";
import type { Starter } from "../api.ts";

export const starterKinds = ["person", "app", "cron", "webhook", "flow", "command"] as const;

/** Whoever makes the request or gives the command. */
export function starterNow(): Starter | undefined {
  const actor = currentActor();
  if (!actor) return undefined;
  const { kind, user, login, token, app, process, command } = actor;
  const id = { person: user, app, flow: process, command }[kind];
  const details = { ...(login !== undefined && { name: login }), ...(token !== undefined && { token_id: token }) };
  return { kind, id: id === undefined ? null : String(id), details: { ...details, ...asUser(kind, user) } };
}

function asUser(kind: string, user: number | undefined) {
  return kind !== "person" && user !== undefined ? { user_id: user } : {};
}

/** The causation of what follows from a process. */
export function rootOf({ id, trace }: { readonly id: string; readonly trace: string | null }): Causation {
  return { id: trace ?? id, depth: 0, chain: [] };
}

/** The change at the root of what leads to this process; undefined if it is a root itself. */
export function traceNow(): string | undefined {
  return currentCausation()?.id;
}
