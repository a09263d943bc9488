import * as calls from "./calls.ts";
import * as room from "./room.ts";
import {
  answer,
  badRequest,
  forbidden,
  isForm,
  isUuid,
  jsonText,
  isObject,
  limitKey,
  methodNotAllowed,
  ok,
  route,
  tooMany,
  Type,
  unknownNames,
  unsupportedType,
  warned,
  withSource,
  pageHints,
} from "platform";
import type { Reply, RequestInput, Route } from "platform";
import {
  DeletedRecord,
  HeldByLinks,
  heldByLinks,
  PublicRead,
  PublicRecord,
  PublicRefusal,
  UnknownTable,
  recordExample,
} from "../records/routes.ts";
import { nullTableHints, type Database } from "../databases/database.ts";
import { publicList, publicSearch, sortHints, type Call } from "./calls.ts";
import { isOperation, operationParams, type Operation } from "../databases/public-methods.ts";
import type { Query } from "../search/query.ts";
import { printedBytes } from "../records/record.ts";
import { databaseAt } from "../databases/cache.ts";
import { keepsAny } from "../history/kept-store.ts";
import * as historyStore from "../history/store.ts";
import { answerPage, recordPage } from "../search/routes.ts";
import type { SearchPage, SearchShape } from "../search/store.ts";
import { formOf, cookieHeader, visitorOf, type Form } from "./visitor.ts";
import { createVisitorTurns } from "../turns.ts";
import type { JsondbContext } from "../context.ts";

const access = {
  open: "what each operation may do is configured in the database's public_methods",
  partly: true,
} as const;
const { id, data, created_at, updated_at } = recordExample;
const example = { id, data, created_at, updated_at };
const parameters = {
  ...recordPage,
  after: "list: the header X-Next-Cursor of the page before",
  id: "get: the record",
  q: "search: a phrase",
  sort: "search: a field, `-` in front = descending",
  table_name: "search: required where the schema has tables",
  expand:
    "list, get, search: links to follow, comma-separated, of those that the method's `expand` names: each record gets `expand`",
};
const refused = Type.Union([PublicRefusal, answer.fieldErrors]);
const refusals = {
  403: { error: "`create` is not open to the public" },
  422: { error: "email is required", errors: { email: ["is required"] } },
  413: { error: "this database is full: visitors may store at most 1000000000 bytes in it" },
  429: { error: "too many requests, try again in 4 s" },
};

type Input = Pick<RequestInput, "request" | "account" | "caller" | "app" | "ip" | "secure" | "query" | "once"> & {
  readonly params: { readonly db_code: string; readonly method_name: string };
};

/** Public methods: list, get, create, update, delete and search without sign-in. behaviour 4.4, B.7. */
export function publicRoutes(ctx: JsondbContext): Route[] {
  const call = createCaller(ctx);
  return [
    route(
      "GET",
      "/core/db/:db_code/:method_name",
      {
        summary: "Call a reading public method: list, get or search",
        access,
        cors: true,
        apps: "the public methods of every database, for its viewer and visitor",
        onSites: true,
        query: parameters,
        answers: { 200: PublicRead, 400: UnknownTable, 422: refused },
        responses: {
          200: [example],
          400: { error: "`after` is not a cursor of X-Next-Cursor" },
          405: { error: "use POST" },
          ...refusals,
        },
      },
      async (input) => call(input, Object.fromEntries(input.query)),
    ),
    route(
      "POST",
      "/core/db/:db_code/:method_name",
      {
        summary: "Call a public method",
        description:
          "The parameters stand in the body: { data } to create, { id, data } to update, { id } to delete. `create` and " +
          "`update` also take a browser's form, whose keys are fields (and `id` to update): its texts become what the schema " +
          "wants, `_next` (a path of the same site) is where the browser is led by 303, and whoever fills `_gotcha` is a robot: " +
          "answered as if it were stored.",
        access,
        cors: true,
        apps: "the public methods of every database, for its viewer and visitor",
        onSites: true,
        input: "fields",
        // A record has at most 2 MB.
        strangerBytes: 2_500_000,
        unstorable: "own",
        reads: ({ method_name: name = "" }) => isOperation(name) && !writes.has(name),
        idempotency: "own",
        request: { data: recordExample.data },
        answers: {
          200: Type.Union([PublicRead, DeletedRecord]),
          201: PublicRecord,
          400: UnknownTable,
          409: HeldByLinks,
          422: refused,
        },
        responses: { 200: example, 201: example, 303: null, ...heldByLinks, ...refusals },
      },
      (input) =>
        withSource("public", async () => {
          const body: unknown = input.body;
          if (isForm(input.request.headers.get("content-type"))) return formCall(call, input, Object(body));
          if (!isObject(body)) throw badRequest("the body must be a JSON object");
          return call(input, { ...Object.fromEntries(input.query), ...body });
        }),
    ),
  ];
}

/** A form's keys are fields, so what is in its address is no parameter but the id. */
async function formCall(call: Caller, input: Input, fields: Record<string, unknown>): Promise<Reply> {
  if (!storing.has(input.params.method_name)) throw unsupportedType();
  const form = formOf(fields);
  const reply = await call(input, { ...Object.fromEntries(input.query), ...form.params }, form);
  if (form.next === undefined || reply.status >= 300) return reply;
  const { "content-type": _, ...headers } = reply.headers;
  return { status: 303, body: null, headers: { ...headers, location: form.next } };
}

type Caller = ReturnType<typeof createCaller>;

function createCaller(ctx: JsondbContext) {
  const { rateLimitRequests, rateLimitCreates, rateLimitWindowSeconds: windowSeconds } = ctx.config;
  const requests = ctx.limiter("jsondb.requests", { limit: rateLimitRequests, windowSeconds });
  const creates = ctx.limiter("jsondb.creates", { limit: rateLimitCreates, windowSeconds });
  const turns = createVisitorTurns();

  const limit = async (ip: string, operation: Operation) => {
    const key = limitKey(ip);
    for (const limiter of operation === "create" ? [requests, creates] : [requests]) {
      const taken = await limiter.take(key);
      if (!taken.allowed) throw tooMany(taken.retryAfterSeconds);
    }
  };

  const page = async (call: Call, queryOf: (db: Database, call: Call) => Query | undefined, shape: SearchShape) => {
    if (!queryOf(call.db, call)) return jsonText(200, "[]");
    const read = (db: Database) => {
      const query = queryOf(db, call);
      if (!query) throw new Error("a scope does not depend on the schema");
      return query;
    };
    const finish = ({ db, records }: SearchPage) => calls.finish(ctx, call, db, records);
    return answerPage(ctx, call.db, read, shape, calls.mayFinish(call) ? finish : undefined);
  };

  const runs: Record<Operation, (call: Call) => Promise<Reply>> = {
    list: (call) => page(call, publicList, { form: calls.formOf(call) }),
    search: async (call) => withoutCursor(await page(call, publicSearch, { form: "flat" })),
    get: async (call) => jsonText(200, await calls.get(ctx, call)),
    create: async (call) =>
      warned(
        jsonText(201, await calls.create(ctx, call)),
        call.method.table === undefined ? nullTableHints(call.db, 1) : [],
      ),
    update: async (call) => jsonText(200, await calls.update(ctx, call)),
    delete: async (call) => ok(await calls.remove(ctx, call)),
  };

  return async (input: Input, params: Call["params"], form?: Form): Promise<Reply> => {
    const { request, account, caller, ip, secure, once } = input;
    const { db_code: code, method_name: operation } = input.params;
    const closed = () => forbidden(`\`${operation}\` is not open to the public`);
    if (!isOperation(operation)) {
      await databaseAt(ctx, account.id, code); // an unknown code is 404 whatever the method
      throw closed();
    }
    await limit(ip, operation);
    const db = await databaseAt(ctx, account.id, code);
    const method = db.publicMethods.methods.get(operation);
    if (!method) throw closed();
    if (request.method !== "POST" && writes.has(operation)) throw methodNotAllowed(["POST"]);
    const key = request.method === "POST" ? request.headers.get("idempotency-key") : null;
    const keyed = key !== null;
    const visitor = visitorOf(ctx.secrets, input, key);
    const call: Call = { db, operation, method, params, isForm: form !== undefined, variables: visitor.variables };
    const principal = caller ? `token:${caller.tokenId}` : `visitor:${visitor.variables.cookie_key}`;
    const isTurn = !caller && lists.has(operation);
    if (form?.isRobot)
      return operation === "create" ? jsonText(201, calls.pretend(call)) : jsonText(200, await calls.get(ctx, call));
    const run = async () => {
      if (isTurn) return turns(account.id, ip, () => runs[operation](call), request.signal);
      if (caller || !storing.has(operation)) return runs[operation](call);
      const { id: changed } = params;
      // Its history keeps all of the record as it is.
      const isKept = operation === "update" && keepsAny(db.rules) && typeof changed === "string" && isUuid(changed);
      const before = isKept ? await historyStore.sizeOf(ctx.sql, db, changed) : 0;
      const bytes = printedBytes(JSON.stringify(params["data"] ?? null)) + before;
      return room.store(ctx, db, ip, bytes, () => runs[operation](call));
    };
    const answered = keyed ? await once(principal, run) : await run();
    const reply = warned(answered, callHints(call, input.query));
    if (!keyed && !method.usesCookie) return reply;
    // Added outside `once`, which would store the visitor's secret.
    return { ...reply, headers: { ...reply.headers, ...cookieHeader(visitor, secure) } };
  };
}

/** Hints about a call's parameters. The runtime adds those about names in the address that no operation has. */
function callHints(call: Call, query: URLSearchParams): string[] {
  const { operation, params } = call;
  const known = operationParams[operation];
  const names = Object.keys(params).filter((name) => !query.has(name) || Object.hasOwn(parameters, name));
  const hints = unknownNames(names, known, (name) => `\`${operation}\` takes no "${name}"`);
  // Those of the address the runtime names.
  const asked = ["limit", "offset"].flatMap((name): [string, string][] => {
    const value = query.has(name) || !lists.has(operation) ? null : (params[name] ?? null);
    return value === null ? [] : [[name, typeof value === "string" ? value : JSON.stringify(value)]];
  });
  const all = [...hints, ...pageHints(parameters, new URLSearchParams(asked)), ...calls.expandHints(call)];
  return operation === "search" ? [...all, ...sortHints(call)] : all;
}

const storing: ReadonlySet<string> = new Set<Operation>(["create", "update"]);
const lists: ReadonlySet<Operation> = new Set<Operation>(["list", "search"]);
const writes: ReadonlySet<Operation> = new Set<Operation>(["create", "update", "delete"]);

/** The public search takes no cursor (behaviour 2.4). */
function withoutCursor(reply: Reply): Reply {
  const { "x-next-cursor": _, ...headers } = reply.headers;
  return { ...reply, headers };
}
