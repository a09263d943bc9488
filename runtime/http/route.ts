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
import type { Answers } from "./answers/answers.ts";
import type { Account, AppGrant, Caller } from "./auth.ts";
import type { Log } from "../system/log.ts";
import type { Reply } from "./answers/reply.ts";
import { checkFields, givenFields } from "./validate.ts";

export type Method = "GET" | "POST" | "PATCH" | "PUT" | "DELETE";

/** Every route names a privilege or the reason why it needs none. */
export type Access =
  /** `or`: who may use it without the privilege; the route itself decides that. A narrowed token needs it all the same. */
  | { readonly privilege: string; readonly or?: string }
  /** Needs only a sign-in; the reason. */
  | { readonly signedIn: string }
  /** Needs nothing; the reason. `partly`: some of what it answers needs a sign-in, so the examples carry a token. */
  | { readonly open: string; readonly partly?: true };

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

/** Query parameters as a route declares them: the meaning of each, or a schema with one. */
export type QuerySpec = Readonly<Record<string, string | TSchema>>;

/** `"filter[<field>]"` -> `` `filter[${string}]` ``; `"*"` -> `string` */
type ParameterName<N> = N extends "*"
  ? string
  : N extends `${infer Start}<${string}>${infer Rest}`
    ? `${Start}${string}${ParameterName<Rest>}`
    : N;

/** The parameters of an address: only declared names can be read. */
export interface Query<N extends string> extends URLSearchParams {
  get(name: N): string | null;
  getAll(name: N): string[];
  has(name: N, value?: string): boolean;
}

/** Input of every handler. */
export interface RequestInput {
  readonly request: Request;
  readonly requestId: string;
  readonly account: Account;
  /** Null on an open route without a valid credential. */
  readonly caller: Caller | null;
  /** Set if the request carries the token of an app's page: it may access only what belongs to that app. */
  readonly app: AppGrant | null;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** The parsed JSON inside the body's key; undefined if the route takes no body. */
  readonly body: unknown;
  /** The lower-case host that the client asked for (even behind trusted proxies), with its port if it has one. */
  readonly host: string;
  /** The client's address, even behind trusted proxies. */
  readonly ip: string;
  /** Whether the client used https, even behind trusted proxies. */
  readonly secure: boolean;
  /** Whether the host is a site's (behaviour B.11), where nobody can sign in. */
  readonly atSite: boolean;
  readonly log: Log;
  /**
   * Runs `run` at most once for this request's `Idempotency-Key` and `principal`; without the header it just runs. Only
   * for routes with `idempotency: "own"`: the runtime does it for all others except streams. A stream needs `bodyHash`,
   * which reads whatever `run` has not read of the body.
   */
  once(principal: string, run: () => Promise<Reply>, bodyHash?: () => Promise<string>): Promise<Reply>;
  /**
   * Commits the writes, with `reply` as the answer to this request's Idempotency-Key, before the handler waits for
   * their effects. The handler's final answer then replaces `reply`. Without a key it does nothing.
   */
  settle(reply: Reply): Promise<void>;
}

export interface BodySpec<S extends TObject> {
  /** The key that wraps the fields; without it they are at the top level. */
  readonly key?: string;
  /** Fields that stand beside the key; inside of it they count as well. */
  readonly beside?: readonly string[];
  /** In a POST, null for an optional field counts as leaving it out, unless the schema allows null. */
  readonly schema: S;
}

export interface RouteSpec<A extends Access, S extends TObject, Q extends QuerySpec = QuerySpec> {
  readonly summary: string;
  readonly description?: string;
  readonly access: A;
  readonly body?: BodySpec<S>;
  /**
   * Query parameters: the meaning of each, or a schema with one if it is not text. `filter[<field>]` stands for many
   * names, `*` for any. Other parameters are reported in the header `Warning`.
   */
  readonly query?: Q;
  /** An example of the query, if a call without one is refused: `{ q: "ann" }`, `{ "filter[city]": "Łódź" }`. */
  readonly asks?: Readonly<Record<string, string>>;
  /** The schemas of an `input` by media type; default: a JSON object. */
  readonly takes?: readonly TSchema[];
  /** An example of the request body's fields. */
  readonly request?: unknown;
  /**
   * Schemas of the answers by status (answers.ts). Refusals of the usual form need none; other answers stay open
   * without.
   */
  readonly answers?: Answers;
  /** Example answers by status; a string is a text body, null an empty one. */
  readonly responses: Readonly<Record<number, unknown>>;
  /** Where a person sees the thing that is answered, with its fields in braces: `/w/{site_code}/{path}`. */
  readonly shownAt?: string;
  /** The values of the thing's fields with which this can succeed: `{ status: ["error"] }`. Others are not offered it. */
  readonly when?: Readonly<Record<string, readonly string[]>>;
  /** `wrapped`: 422 bodies are `{ errors: { field: […] } }` (behaviour 7, API tokens). */
  readonly errors?: "plain" | "wrapped";
  /**
   * `stream`: the handler reads `request.body` itself; `any`: any JSON value, unwrapped; `form`: also an HTML form;
   * `fields`: as `any`, or a browser's form of any fields (`isForm`), whose values are texts and lists of them.
   */
  readonly input?: "stream" | "any" | "form" | "fields";
  /** The handler itself refuses unstorable values (`refuseUnstorable`), because it ignores much of the body. */
  readonly unstorable?: "own";
  /** The largest body in bytes, for everybody; default: `MAX_BODY_BYTES`. */
  readonly maxBytes?: number;
  /**
   * The same for anonymous callers of an open route; default: 16 kB, so that strangers cannot keep the process busy.
   */
  readonly strangerBytes?: number;
  /**
   * `own`: the handler calls `once` itself. `claim`: the work cannot be undone (a call to another server, say), so the
   * key is claimed before it begins. Default: the key, the answer and the writes commit together.
   */
  readonly idempotency?: "own" | "claim";
  /** Honours `If-Match` (see expectedVersion) and documents 412. */
  readonly ifMatch?: true;
  /** Whether a POST with these path parameters only reads: a session cookie then needs no origin (behaviour B.1). */
  readonly reads?: (params: Readonly<Record<string, string>>) => boolean;
  /** Pages of any origin may call it, without credentials (behaviour B.7). */
  readonly cors?: boolean;
  /**
   * What an app's page may do here with its token (behaviour B.10); the handler opens only what belongs to `input.app`.
   * Without it such a token is refused. Pages of any origin may call it, because a sandboxed page's own origin is
   * opaque.
   */
  readonly apps?: string;
  /** It gives away many records at once: the log of activity says who has asked for them. */
  readonly exports?: true;
  /** Headers of a protocol that also its refusals have, and what OPTIONS says of the address. */
  readonly always?: Readonly<Record<string, string>>;
  /** `WWW-Authenticate` of its 401, for whoever has no token yet; `address` is the account's. */
  readonly challenge?: (address: string) => string;
  /** Also served on sites' hosts, if no page has this path (behaviour B.11). */
  readonly onSites?: true;
}

/** A route as the runtime handles it: the types are inside. */
export interface Route {
  /** The plugin's name; set when the plugin starts. */
  readonly plugin?: string;
  readonly method: Method;
  readonly path: string;
  readonly spec: RouteSpec<Access, TObject>;
  /** Throws the 422 if `value` does not fit the route's schema. */
  readonly check: (value: unknown) => unknown;
  readonly run: (input: RequestInput) => Promise<Reply | Response> | Reply | Response;
  /** Of a list: what a menu shows of its things, the oldest first, as far as the caller may see them. */
  readonly looks?: (input: Pick<RequestInput, "request" | "app"> & { caller: Caller }, most: number) => Promise<Look[]>;
}

/** How a thing looks in a menu. */
export interface Look {
  readonly id: string | number;
  readonly name: string;
  readonly code: string;
  readonly icon: string | null;
  readonly color: string | null;
}

type CallerOf<A extends Access> = A extends { readonly open: string } ? Caller | null : Caller;

type Input<Path extends string, A extends Access, S extends TObject, Q extends QuerySpec> = Omit<
  RequestInput,
  "params" | "query" | "body" | "caller"
> & {
  readonly params: PathParams<Path>;
  readonly query: Query<ParameterName<keyof Q & string>>;
  readonly body: Static<S>;
  readonly caller: CallerOf<A>;
};

export function route<const Path extends string, A extends Access, S extends TObject, Q extends QuerySpec = {}>(
  method: Method,
  path: Path,
  spec: RouteSpec<A, S, Q>,
  handler: (input: Input<Path, A, S, Q>) => Promise<Reply | Response> | Reply | Response,
): Route {
  const schema = spec.body?.schema;
  // Compiled on first use: compiling a hundred schemas would take a quarter of the start.
  let compiled: ReturnType<typeof TypeCompiler.Compile> | undefined;
  const check = (value: unknown) => {
    if (!schema) return value;
    compiled ??= TypeCompiler.Compile(schema);
    return checkFields(compiled, schema, method === "POST" ? givenFields(schema, value) : value);
  };
  // The runtime calls `run` with the params of `path`, a checked body, and a caller wherever `access` asks for one.
  const run = (input: RequestInput) => handler(input as unknown as Input<Path, A, S, Q>);
  return { method, path, spec, check, run };
}
