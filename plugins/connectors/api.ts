/** The service `connectors`: calls connectors and takes kinds of other plugins. */
import { service, type FieldErrors, type TObject } from "platform";

export { codeMistake, isCode, isUuid } from "./definition.ts";
export { recordOf, requestMistakes } from "./definition.ts";
export { createFiller, isHeaderValue, paramHints, placeholders, type Filler } from "./fill.ts";

/** Tokens used by a call of a model. */
export interface Usage {
  readonly input_tokens: number;
  readonly output_tokens: number;
}

/** The outcome of a call. It never contains the connector's secret. */
export interface CallOutcome {
  readonly ok: boolean;
  /** The status of the answer; null without an answer. */
  readonly status: number | null;
  /** The answer's JSON, else its text; null if it was empty. */
  readonly data: unknown;
  /** Of an answer by HTTP: names in lower case. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Why the call failed. */
  readonly error: string | null;
  /** The seconds to wait before another call, as the remote asked (`Retry-After`). */
  readonly retryAfterSeconds: number | null;
  readonly durationMs: number;
  /** Only for calls that cost tokens, failed ones included. */
  readonly usage?: Usage | undefined;
  /** It was not begun, because so many others run. */
  readonly isBusy?: boolean | undefined;
}

/** An event as a webhook delivers it (behaviour B.8). */
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
  /** Sent as `Idempotency-Key` if the method may change something, so that the remote recognises a repeated call. */
  readonly idempotencyKey?: string | undefined;
  /** For the whole call, retries included. */
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Is told the answer's text as it comes, without the secret, by kinds that can stream. */
  readonly onText?: ((text: string) => void) | undefined;
}

/** A request that says everything itself, as a program made it: what does not fit is refused. */
export interface HttpAsked {
  /** GET if it is missing. */
  readonly method?: unknown;
  readonly url: string;
  /** Name to value, or to several. */
  readonly query?: unknown;
  readonly headers?: unknown;
  /** An object or array goes as JSON, or as a form where `Content-Type` says so. */
  readonly body?: unknown;
}

/** A connector with its secret decrypted, as its kind gets it for a call. */
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
  /** The body if the method declares none: the record of an event. */
  readonly fallbackBody?: unknown;
  readonly idempotencyKey?: string | undefined;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  readonly onText?: ((text: string) => void) | undefined;
}

/** The HTTP request of a call, as people see it. */
export interface ShownRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

export interface MethodFacts {
  readonly name: string;
  /** Whether it may be called without sign-in. */
  readonly public: boolean;
  /** Events never reach it: its parameters are an instruction, and anyone may have written a record's keys. */
  readonly onlyByName?: boolean;
  /** If the method is not one of `fields.methods`, whose placeholders tell it. */
  readonly parameters?: readonly string[];
  /** The only parameters that it reads, if there is no place for others, as in a GET. */
  readonly takesOnly?: readonly string[] | undefined;
}

/** A kind of connector, e.g. `core/custom_connector`. */
export interface ConnectorKind {
  readonly name: string;
  /** Whether such a connector must have a `url`. */
  readonly needsUrl: boolean;
  /** What `fields` holds, for forms and documentation; `check` decides. */
  readonly fields?: TObject;
  /** What a method of `fields.methods` may have; others are named in the header `Warning`. */
  readonly methodKeys?: readonly string[];
  /** The methods of a connector with these fields. */
  readonly methods: (fields: Readonly<Record<string, unknown>>) => readonly MethodFacts[];
  /** The mistakes of a connector that is to be saved, by field. */
  readonly check: (connector: {
    readonly url: string;
    readonly fields: Readonly<Record<string, unknown>>;
    readonly hasSecret: boolean;
  }) => FieldErrors;
  /** The mistake of a secret, which is one line without control characters. */
  readonly secretMistake?: (secret: string) => string | undefined;
  /** False if the remote never sends the secret back: then a row that happens to contain the same word stays as it is. */
  readonly echoes?: boolean;
  /** Calls of one connector that may run at a time in a process, while others wait; default: 100. */
  readonly atOnce?: number;
  /** The longest time of a call whose caller names none; default: 60. */
  readonly maxSeconds?: number;
  /**
   * The request that `call` would send, for people who try a method. The connector's `secret` is a placeholder here. Throws
   * a 422 for wrong parameters. Without it, only the answer is shown.
   */
  readonly shown?: (connector: OpenConnector, call: KindCall) => ShownRequest;
  /** Throws a 422 (`invalid`) for wrong parameters. The caller removes the secret from the outcome. */
  readonly call: (connector: OpenConnector, call: KindCall) => Promise<CallOutcome>;
}

/** A connector as in a request (behaviour B.9), without its secret. Missing fields stay as they are. */
export interface NewConnector {
  readonly name: string;
  readonly code: string;
  readonly kind?: string;
  readonly url?: string;
  readonly fields?: Readonly<Record<string, unknown>>;
  readonly active?: boolean;
}

export interface Connectors {
  /** Adds a kind; to be called in `setup`. */
  register(kind: ConnectorKind): void;
  /** Makes the connector with this code, or changes the existing one. `userId` null = no person (a command). */
  put(
    by: { readonly accountId: number; readonly userId: number | null },
    connector: NewConnector,
  ): Promise<{ readonly id: string; readonly done: "made" | "changed" | "unchanged" }>;
  /** Whether a connector has this code, active or not. */
  exists(accountId: number, code: string): Promise<boolean>;
  /** The kind of an active connector; undefined if no active one has this code. */
  kindOf(accountId: number, code: string): Promise<string | undefined>;
  /** The methods of an active connector; undefined if no active one has this code. */
  methodsOf(accountId: number, code: string): Promise<readonly MethodFacts[] | undefined>;
  /** Undefined for an unknown connector or method, or an inactive connector. Throws a 422 for wrong parameters. */
  call(call: ConnectorCall): Promise<CallOutcome | undefined>;
  /**
   * Sends a request, with the secret of the connector `code` if one is named: then only below its address. Undefined if
   * that is no active custom connector. Throws a 422 for a wrong request.
   */
  request(
    call: Pick<ConnectorCall, "accountId" | "idempotencyKey" | "timeoutMs" | "signal"> & {
      readonly code: string | undefined;
      readonly asked: HttpAsked;
    },
  ): Promise<CallOutcome | undefined>;
  /**
   * Calls the method that is named like the event's kind, else `default`, else the first (behaviour B.8). Undefined if
   * no active connector has this code, or it has no method.
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
