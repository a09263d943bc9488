/** A program is an array of steps. behaviour B.9. check.ts refuses wrong ones. */
import type { Condition } from "./template.ts";

interface Common {
  readonly id?: string;
  /** Further attempts, and the pause before each in seconds. */
  readonly retry?: { readonly times: number; readonly delay?: number };
  /** The time limit of one attempt, in seconds. */
  readonly timeout?: number;
  /** Steps that run instead of failing, with `error` in scope. */
  readonly on_error?: Program;
}

export interface ConnectorStep extends Common {
  readonly type: "connector";
  readonly connector: string;
  readonly method: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly as?: string;
}
/** Everything may be templates. `connector` is the code of one that gives its secret. */
export interface HttpStep extends Common {
  readonly type: "http";
  readonly method?: unknown;
  readonly url: unknown;
  readonly query?: unknown;
  readonly headers?: unknown;
  readonly body?: unknown;
  readonly connector?: string;
  readonly as?: string;
}
export interface MutationStep extends Common {
  readonly type: "mutation";
  readonly set: Readonly<Record<string, unknown>>;
}
export interface IfStep extends Common {
  readonly type: "if";
  readonly condition: Condition;
  readonly then?: Program;
  readonly else?: Program;
}
/** `id` is the record's for get, update and delete (behaviour B.9); otherwise the step's own. */
export interface DbStep extends Common {
  readonly type: "db";
  readonly op: DbOp;
  readonly db: string;
  readonly table_name?: unknown;
  readonly data?: unknown;
  /** For update: what the record must match, as the `filter` of a search. */
  readonly if?: unknown;
  /** For update: field to what is added to it. */
  readonly increment?: unknown;
  /** For get and search: links to follow. */
  readonly expand?: unknown;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly as?: string;
}
export interface EachStep extends Common {
  readonly type: "each";
  readonly in: unknown;
  readonly as?: string;
  readonly do: Program;
  readonly concurrency?: number;
}
export interface TryStep extends Common {
  readonly type: "try";
  readonly do: Program;
  /** Run with `error` in scope if a step of `do` fails. */
  readonly catch: Program;
  readonly as?: string;
}
export interface ParallelStep extends Common {
  readonly type: "parallel";
  readonly branches: readonly Program[];
  readonly concurrency?: number;
  readonly as?: string;
}
export interface FlowStep extends Common {
  readonly type: "flow";
  readonly flow: string;
  readonly input?: unknown;
  readonly as?: string;
}
export interface ReturnStep extends Common {
  readonly type: "return";
  readonly value?: unknown;
}
export interface FailStep extends Common {
  readonly type: "fail";
  readonly message?: unknown;
}
export interface WaitStep extends Common {
  readonly type: "wait";
  readonly seconds: unknown;
}

/** A step of a type that a plugin has registered. */
export interface OwnStep extends Common {
  readonly type: `${string}.${string}`;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly as?: string;
}

/** Types of steps that plugins of ours bring, whose parameters stand beside the type. */
export const flatTypes = ["ask", "script", "wait_for"] as const;
/** The one of them whose time limit is the engine's; the others know what to do when their time is over. */
export const computes = (type: string): boolean => type === "script";
/** What is no template: in a script braces are its own. */
export const isPlain = (type: unknown, key: string): boolean => type === "script" && key === "source";

export interface FlatStep extends Common {
  readonly type: (typeof flatTypes)[number];
  readonly as?: string;
}

export type Step =
  | ConnectorStep
  | HttpStep
  | MutationStep
  | IfStep
  | DbStep
  | EachStep
  | TryStep
  | ParallelStep
  | FlowStep
  | ReturnStep
  | FailStep
  | WaitStep
  | FlatStep
  | OwnStep;
export type Program = readonly Step[];

export const isFlat = (type: string): boolean => flatTypes.some((flat) => flat === type);

/** Keys of every step. */
export const commonKeys = ["type", "description", "id", "retry", "timeout", "on_error"] as const;

export const dbOps = ["create", "update", "delete", "get", "search"] as const;
export type DbOp = (typeof dbOps)[number];

export const limits = {
  /** In one program, nested steps included. */
  steps: 500,
  programChars: 200_000,
  nesting: 20,
  /** In one `each`. */
  elements: 1000,
  concurrency: 20,
  /** In one `parallel`. */
  branches: 10,
  retries: 10,
  retryDelaySeconds: 3600,
  timeoutSeconds: 86_400,
  waitSeconds: 30 * 86_400,
  /** Steps that one process may run, repetitions included. */
  executed: 20_000,
  /** Depth of flows that call flows. */
  calls: 16,
  /** The variables of a process, as JSON. */
  memoryChars: 8_000_000,
};

/** The names of the branches that a step may have; those of a `parallel` are `branches[0]` and so on. */
export function branchNames(step: object): string[] {
  const branches: unknown = "branches" in step && step.branches;
  const own = Array.isArray(branches) ? branches.map((_, at) => `branches[${at}]`) : [];
  return ["then", "else", "do", "catch", ...own, "on_error"];
}

/** The steps at a place such as `2.then` or `2.branches[0]`; "" is the program itself. */
export function blockAt(program: Program, place: string): Program {
  let found: unknown = program;
  // The place was made by walking this program.
  const keys = place === "" ? [] : place.replaceAll("]", "").split(/[.[]/);
  for (const key of keys) found = (found as Record<string, unknown> | undefined)?.[key];
  return Array.isArray(found) ? found : [];
}
