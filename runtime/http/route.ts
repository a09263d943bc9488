/**
 * A route: what an endpoint is, as data (listed, documented and tested without starting anything), and its handler.
 *
 *     route("PATCH", "/core/notes/:id", {
 *       summary: "Change a note",
 *       access: { privilege: "notes" },
 *       body: { key: "note", schema: Type.Partial(NoteInput) },
 *       answers: { 200: Note },
 *       responses: { 200: noteExample },
 *     }, async ({ params, body, caller }) => ok(await store.update(caller.account.id, uuidOf(params.id), body)))
 */
import { TypeCompiler } from "@sinclair/typebox/compiler";
import type { Static, TObject, TSchema } from "@sinclair/typebox";
import type { Answers } from "../openapi/answers.ts";
import type { Account, AppGrant, Caller } from "./auth.ts";
import type { Log } from "../log.ts";
import type { Reply } from "./reply.ts";
import { checkFields, givenFields } from "./validate.ts";

export type Method = "GET" | "POST" | "PATCH" | "PUT" | "DELETE";

/** Every route has a privilege or says why it has none. */
export type Access =
  | { readonly privilege: string }
  /** Needs sign-in only; the reason. */
  | { readonly signedIn: string }
  /** Needs nothing; the reason. */
  | { readonly open: string };

/** `"/core/dbs/:db_id/records/:id.md"` -> `{ db_id: string; id: string }` */
export type PathParams<Path extends string> = Path extends `${infer Segment}/${infer Rest}`
  ? Segment extends `:${infer Name}`
    ? { readonly [K in Name]: string } & PathParams<Rest>
    : PathParams<Rest>
  : Path extends `:${infer Name}.${string}`
    ? { readonly [K in Name]: string }
    : Path extends `:${infer Name}`
      ? { readonly [K in Name]: string }
      : unknown;

/** What every handler gets, whatever its route. */
export interface RequestInput {
  readonly request: Request;
  readonly requestId: string;
  readonly account: Account;
  /** Null on an open route without a working credential. */
  readonly caller: Caller | null;
  /** Set where the request carries the token of an app's page: only what belongs to that app may be opened. */
  readonly app: AppGrant | null;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** The parsed JSON inside the body's key; undefined where the route takes none. */
  readonly body: unknown;
  /** The lower-case host that the client asked for, behind trusted proxies too; its port where it has one. */
  readonly host: string;
  /** The client's address, behind trusted proxies too. */
  readonly ip: string;
  /** Whether the client came by https, behind trusted proxies too. */
  readonly secure: boolean;
  /** Whether it is the host of a site (behaviour B.11), where nobody can sign in. */
  readonly atSite: boolean;
  readonly log: Log;
  /**
   * Runs `run` at most once for this request's `Idempotency-Key` and `principal`; without the header it just runs.
   * Only for routes with `idempotency: "own"`; the runtime does it for all others but streams. Of a stream it needs
   * `bodyHash`, which reads what `run` has not read of the body.
   */
  once(principal: string, run: () => Promise<Reply>, bodyHash?: () => Promise<string>): Promise<Reply>;
  /**
   * Commits what was written, with `reply` as the answer of this request's Idempotency-Key, before the handler waits for
   * what follows from it. What it answers in the end takes the place of `reply`. Without a key it does nothing.
   */
  settle(reply: Reply): Promise<void>;
}

export interface BodySpec<S extends TObject> {
  /** The key that wraps the fields; none = the fields stand at the top. */
  readonly key?: string;
  /** In a POST an optional field that is null, and whose schema takes no null, is one left out. */
  readonly schema: S;
}

export interface Example {
  readonly [status: number]: unknown;
}

export interface RouteSpec<A extends Access, S extends TObject> {
  readonly summary: string;
  readonly description?: string;
  readonly access: A;
  readonly body?: BodySpec<S>;
  /**
   * Query parameters: what each means, or a schema that says so where it is no text; `filter[<field>]` stands for many
   * names, `*` for any. Others are named in the header `Warning`.
   */
  readonly query?: Readonly<Record<string, string | TSchema>>;
  /** What an `input` takes, by schemas with their media types; without it a JSON object. */
  readonly takes?: readonly TSchema[];
  /** An example of the request body's fields. */
  readonly request?: unknown;
  /** Schemas of the answers by status (answers.ts); refusals of the usual form need none, and others stay open without. */
  readonly answers?: Answers;
  /** Example answers by status; a string is a text body, null an empty one. */
  readonly responses: Readonly<Record<number, unknown>>;
  /** `wrapped`: 422 bodies are `{ errors: { field: […] } }` (behaviour 7, API tokens). */
  readonly errors?: "plain" | "wrapped";
  /** `stream`: the handler reads `request.body` itself; `any`: any JSON value, unwrapped; `form`: also an HTML form. */
  readonly input?: "stream" | "any" | "form";
  /** The handler itself refuses what cannot be stored (`refuseUnstorable`), since it ignores much of the body. */
  readonly unstorable?: "own";
  /** The most bytes that a body may have, of anybody; else `MAX_BODY_BYTES`. */
  readonly maxBytes?: number;
  /** The same on an open route for who is not signed in; else 16 kB, so that no stranger keeps the process busy. */
  readonly strangerBytes?: number;
  /**
   * `own`: the handler calls `once` itself. `claim`: what it does cannot be taken back, such as a call of another server,
   * so that the key is claimed before it begins; else the key, the answer and what is written commit together.
   */
  readonly idempotency?: "own" | "claim";
  /** Honours `If-Match` (see expectedVersion), and says so with 412. */
  readonly ifMatch?: true;
  /** Whether a POST with these parameters of the path only reads: then a session cookie needs no origin (behaviour B.1). */
  readonly reads?: (params: Readonly<Record<string, string>>) => boolean;
  /** Any origin may call it, without credentials (behaviour B.7). */
  readonly cors?: boolean;
  /**
   * What an app's page may do here with its token (behaviour B.10); the handler opens only what belongs to `input.app`.
   * Without it such a token is refused. Any origin may call it, without credentials: a sandboxed page's own is opaque.
   */
  readonly apps?: string;
  /** Served on a site's host too, where no page has this path (behaviour B.11). */
  readonly onSites?: true;
}

/** A route as the runtime handles it: the types are inside. */
export interface Route {
  /** Whose it is; set when the plugin is started. */
  readonly plugin?: string;
  readonly method: Method;
  readonly path: string;
  readonly spec: RouteSpec<Access, TObject>;
  /** Throws the 422 where `value` does not fit the route's schema. */
  readonly check: (value: unknown) => unknown;
  readonly run: (input: RequestInput) => Promise<Reply | Response>;
}

type CallerOf<A extends Access> = A extends { readonly open: string } ? Caller | null : Caller;

type Input<Path extends string, A extends Access, S extends TObject> = Omit<
  RequestInput,
  "params" | "body" | "caller"
> & {
  readonly params: PathParams<Path>;
  readonly body: Static<S>;
  readonly caller: CallerOf<A>;
};

export function route<const Path extends string, A extends Access, S extends TObject>(
  method: Method,
  path: Path,
  spec: RouteSpec<A, S>,
  handler: (input: Input<Path, A, S>) => Promise<Reply | Response> | Reply | Response,
): Route {
  const schema = spec.body?.schema;
  // Compiled on first use: a hundred schemas compiled at start would cost a quarter of it.
  let compiled: ReturnType<typeof TypeCompiler.Compile> | undefined;
  const check = (value: unknown) => {
    if (!schema) return value;
    compiled ??= TypeCompiler.Compile(schema);
    return checkFields(compiled, schema, method === "POST" ? givenFields(schema, value) : value);
  };
  // The runtime calls `run` with the params of `path`, a checked body, and a caller wherever `access` asks for one.
  const run = async (input: RequestInput) => handler(input as unknown as Input<Path, A, S>);
  return { method, path, spec, check, run };
}
