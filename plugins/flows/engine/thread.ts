/** The position of a running step: its program, the names in scope and its id in the list of steps. Pure. */
import { blockAt, type Program, type Step } from "../program/program.ts";
import { rootScope } from "./state.ts";
import type { BlockFrame, EachFrame, Frame, Memory, Programs, Scope } from "./state.ts";
import type { Variables } from "../program/template.ts";

/** The frames of the process, or of one element of an `each`. */
export interface Thread {
  readonly frames: Frame[];
  readonly parent?: Thread | undefined;
  /** The `each` of the parent that this is an element of. */
  readonly each?: EachFrame | undefined;
  readonly index: number;
  /** Another element has failed or returned: this one stops. */
  readonly stopped: () => boolean;
}

export interface EngineState {
  readonly memory: Memory;
  readonly programs: Programs;
  readonly accountUrl: string;
}

/** The scope of the frame at `at`, counted from the bottom; by default the top one. */
export function scopeAt({ memory }: EngineState, thread: Thread, at = thread.frames.length - 1): Scope {
  const scope = memory.scopes[scopeNameAt(thread, at)];
  if (!scope) throw new Error("a frame's scope is not in the memory");
  return scope;
}

function scopeNameAt(thread: Thread, at: number): string {
  for (let i = at; i >= 0; i--) {
    const frame = thread.frames[i];
    if (frame?.kind === "call") return frame.scope;
  }
  return thread.parent ? scopeNameAt(thread.parent, thread.parent.frames.length - 1) : rootScope;
}

export function blockOf(engine: EngineState, thread: Thread, at: number): Program {
  const frame = thread.frames[at];
  const program = engine.programs.get(scopeAt(engine, thread, at).programId);
  if (frame?.kind !== "block" || !program) throw new Error("a frame's program is not at hand");
  return blockAt(program, frame.place);
}

/** The running or next step of the frame; undefined at the end of its block. */
export function stepOf(engine: EngineState, thread: Thread, at: number): Step | undefined {
  const frame = thread.frames[at];
  return frame?.kind === "block" ? blockOf(engine, thread, at)[frame.at] : undefined;
}

/** The place of a branch of the step that the frame is at. */
export function placeIn(frame: BlockFrame, branch: string): string {
  return frame.place === "" ? `${frame.at}.${branch}` : `${frame.place}.${frame.at}.${branch}`;
}

/**
 * `input` and its keys, the results of steps, elements of `each`, the `error` of `catch` and `on_error` steps, `account_url`, and
 * last `app`, which replaces all of them: no parameter may fulfil a condition on `app.user.role`.
 */
export function variablesOf(engine: EngineState, thread: Thread): Variables {
  const scope = scopeAt(engine, thread);
  const variables: Variables = { ...scope.input, ...scope.vars };
  for (const local of localsOf(engine, thread).toReversed()) Object.assign(variables, local);
  variables["input"] = scope.input;
  variables["account_url"] = engine.accountUrl;
  return Object.assign(variables, engine.memory.given ?? { app: engine.memory.scopes[rootScope]?.vars["app"] ?? null });
}

/** The names of the frames of this flow, the innermost first. */
function localsOf(engine: EngineState, thread: Thread): Variables[] {
  const locals: Variables[] = [];
  for (let one: Thread | undefined = thread; one; one = one.parent) {
    for (let at = one.frames.length - 1; at >= 0; at--) {
      const frame = one.frames[at];
      if (frame?.kind === "call") return locals;
      if (frame?.kind === "block" && frame.error) locals.push({ error: frame.error });
    }
    if (one.each && one.each.branches === undefined) {
      const { as, list } = one.each;
      locals.push({ [as]: engine.memory.lists[list]?.[one.index] ?? null, [`${as}_index`]: one.index });
    }
  }
  return locals;
}

/** How deep flows call flows here. */
export function callsOf(thread: Thread): number {
  const own = thread.frames.filter(({ kind }) => kind === "call").length;
  return own + (thread.parent ? callsOf(thread.parent) : 0);
}

/** The step's own id, else its place; with the called flow and the elements that it runs for. */
export function idOf(engine: EngineState, thread: Thread, at: number): string {
  const frame = thread.frames[at];
  const step = stepOf(engine, thread, at);
  if (frame?.kind !== "block" || !step) return "";
  const own = step.type === "db" ? undefined : step.id;
  const place = frame.place === "" ? `${frame.at}` : `${frame.place}.${frame.at}`;
  const flow = scopeNameAt(thread, at) === rootScope ? "" : `${scopeAt(engine, thread, at).flow}/`;
  const elements: number[] = [];
  for (let one: Thread | undefined = thread; one?.each; one = one.parent)
    if (one.each.branches === undefined) elements.unshift(one.index);
  return `${flow}${own ?? place}${elements.map((index) => `#${index}`).join("")}`;
}

/** Identifies this step of the process, the same for every attempt. */
export function pathOf(thread: Thread): string {
  const own = thread.frames.map((frame) =>
    frame.kind === "block" ? `${frame.place}.${frame.at}` : frame.kind === "call" ? frame.scope : "",
  );
  return `${thread.parent ? `${pathOf(thread.parent)}#${thread.index}` : ""}${own.join("/")}`;
}

/** The earliest time limit of this step and those around it; undefined without one. */
export function deadlineOf(thread: Thread): number | undefined {
  const own = thread.frames.flatMap((frame) => (frame.kind === "block" ? (frame.deadline ?? []) : []));
  const outer = thread.parent ? (deadlineOf(thread.parent) ?? []) : [];
  const all = own.concat(outer);
  return all.length > 0 ? Math.min(...all) : undefined;
}
