/** What other plugins may know of connectors: calling one, and adding a kind of one's own. */
import { service, type FieldErrors } from "platform";

export { codeMistake, isCode, isUuid } from "./code.ts";
export { recordOf } from "./definition.ts";
export { createFiller, placeholders, type Filler } from "./fill.ts";

/** What a call of a connector's method came to. No secret of the connector is in it. */
export interface CallOutcome {
  readonly ok: boolean;
  /** What the other side answered with; null where no answer came. */
  readonly status: number | null;
  /** The answer's JSON, else its text; null where it was empty. */
  readonly data: unknown;
  /** Why the call failed. */
  readonly error: string | null;
  /** How many seconds the other side asked to wait before another call (`Retry-After`). */
  readonly retryAfterSeconds: number | null;
  readonly durationMs: number;
}

/** An event as a webhook hands it over (behaviour B.8). */
export interface ConnectorEvent {
  readonly source_type: string;
  readonly kind: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface ConnectorCall {
  readonly accountId: number;
  readonly code: string;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** Sent as `Idempotency-Key` where the method may change something, so that a repeated call can be told apart. */
  readonly idempotencyKey?: string | undefined;
  /** For everything together, retries included. */
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A connector as its kind sees it when a method is called. */
export interface OpenConnector {
  readonly accountId: number;
  readonly code: string;
  readonly url: string;
  readonly secret: string | null;
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface KindCall {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** The body where the method declares none: the record of an event. */
  readonly fallbackBody?: unknown;
  readonly idempotencyKey?: string | undefined;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

export interface MethodFacts {
  readonly name: string;
  /** May be called without sign-in. */
  readonly public: boolean;
  /** No event falls to it: its parameters are an instruction, and a record's keys may be anybody's. */
  readonly onlyByName?: boolean;
}

/** A kind of connector, e.g. `core/custom_connector`. */
export interface ConnectorKind {
  readonly name: string;
  /** Whether such a connector must have a `url`. */
  readonly needsUrl: boolean;
  /** The methods of a connector with these fields. */
  readonly methods: (fields: Readonly<Record<string, unknown>>) => readonly MethodFacts[];
  /** What is wrong with a connector that is to be saved; empty = nothing. */
  readonly check: (connector: {
    readonly url: string;
    readonly fields: Readonly<Record<string, unknown>>;
    readonly hasSecret: boolean;
  }) => FieldErrors;
  /** What is wrong with a secret that is one line without control characters. */
  readonly secretMistake?: (secret: string) => string | undefined;
  /** False: the other side never sends the secret back, and a row that happens to hold the same word stays as it is. */
  readonly echoes?: boolean;
  /** Throws a 422 (`invalid`) for wrong parameters. What came back is cleared of the secret by the caller. */
  readonly call: (connector: OpenConnector, call: KindCall) => Promise<CallOutcome>;
}

/** A connector as a request makes one (behaviour B.9), without its secret. What is left out stays as it is. */
export interface NewConnector {
  readonly name: string;
  readonly code: string;
  readonly kind?: string;
  readonly url?: string;
  readonly fields?: Readonly<Record<string, unknown>>;
  readonly active?: boolean;
}

export interface Connectors {
  /** Adds a kind; in `setup` of the plugin that has it. */
  register(kind: ConnectorKind): void;
  /** Makes the connector of this code, or changes the one that stands there to it. `userId` null = no person (a command). */
  put(
    by: { readonly accountId: number; readonly userId: number | null },
    connector: NewConnector,
  ): Promise<{ readonly id: string; readonly done: "made" | "changed" | "unchanged" }>;
  /** Whether there is a connector of this code, active or not. */
  exists(accountId: number, code: string): Promise<boolean>;
  /** The methods of an active connector, undefined where there is none. */
  methodsOf(accountId: number, code: string): Promise<readonly MethodFacts[] | undefined>;
  /** Undefined where there is no such active connector or method. Throws a 422 for wrong parameters. */
  call(call: ConnectorCall): Promise<CallOutcome | undefined>;
  /**
   * Hands an event to the method named like its kind, else `default`, else the first (behaviour B.8). Undefined where
   * there is no such active connector, or it has no method.
   */
  callForEvent(call: {
    readonly accountId: number;
    readonly code: string;
    readonly event: ConnectorEvent;
    readonly idempotencyKey?: string | undefined;
    readonly signal?: AbortSignal | undefined;
  }): Promise<CallOutcome | undefined>;
}

export const connectors = service<Connectors>("connectors");
