/** `core/custom_connector`: HTTP methods declared in `fields.methods`. behaviour 4.3, B.9. */
import {
  causationHeader,
  causationToHeader,
  currentCausation,
  invalid,
  OutboundFault,
  parseExactly,
  parseRetryAfter,
  trimmedEnd,
  type BaseContext,
} from "platform";
import type { CallOutcome, ConnectorKind, KindCall, MethodFacts, OpenConnector } from "./api.ts";
import { authOf, checkDefinition, customFields, methodsOf, recordOf, type Method } from "./definition.ts";
import { createFiller, formPairs, isHeaderValue, placeholders } from "./fill.ts";

export interface HttpRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body: string | undefined;
}

const maxBytes = 5_000_000;
const maxRetries = 2;
// No caller waits longer than this for the answer.
const maxWaitSeconds = 10;
const idempotent = new Set(["GET", "HEAD", "PUT", "DELETE"]);

export const customKind = "core/custom_connector";

export function customConnector(fetch: BaseContext["fetch"]): ConnectorKind {
  return {
    name: customKind,
    fields: customFields,
    methodKeys: ["method", "path", "query", "headers", "body", "public", "description", "timeout"],
    needsUrl: true,
    methods: (fields) =>
      [...methodsOf(fields)].map(([name, method]) => ({
        name,
        public: method.public,
        // Worked out for whoever asks: most calls do not.
        get takesOnly() {
          return takesOnly(method);
        },
      })),
    check: checkDefinition,
    secretMistake: (secret) => (isHeaderValue(secret) ? undefined : "must be what a header can carry: Latin letters"),
    shown: (connector, call) => {
      const { body = null, ...request } = requestOf(connector, methodNamed(connector, call), call);
      return { ...request, body };
    },
    call: async (connector, call) => {
      const method = methodNamed(connector, call);
      const request = requestOf(connector, method, call);
      const timeoutMs = Math.min(call.timeoutMs, method.timeoutSeconds * 1000);
      return send(fetch, request, { timeoutMs, signal: call.signal, needsAnswer: call.fallbackBody === undefined });
    },
  };
}

/** Undefined if its body is made of whatever has no other place. */
function takesOnly({ method, path, query, headers, body }: Method): string[] | undefined {
  const sendsAny = body === undefined && method !== "GET" && method !== "HEAD" && method !== "DELETE";
  return sendsAny ? undefined : parametersOf({ path, query, headers, body });
}

function methodNamed({ fields }: OpenConnector, call: KindCall): Method {
  const method = methodsOf(fields).get(call.method);
  if (!method) throw new Error(`the connector has no method ${call.method}`);
  return method;
}

/** The request of a call. Throws a 422 that names every wrong or missing parameter. */
export function requestOf(connector: OpenConnector, method: Method, call: KindCall): HttpRequest {
  const fill = createFiller(call.params);
  const base = new URL(connector.url);
  const [place = "", ...rest] = method.path.split("?");
  const path = fill.path(place);
  const query = [
    base.search.slice(1),
    fill.encoded(rest.join("?")),
    ...Object.entries(method.query).flatMap(([name, template]) => fill.pairs(name, template)),
  ];
  const headers: Record<string, string> = { accept: "application/json, */*;q=0.5" };
  for (const [name, template] of Object.entries(method.headers)) setHeader(headers, name, fill.header(name, template));
  const body = bodyOf(method, call, fill, headers);
  fill.check();
  if (
    call.idempotencyKey !== undefined &&
    method.method !== "GET" &&
    method.method !== "HEAD" &&
    !("idempotency-key" in headers)
  )
    headers["idempotency-key"] = call.idempotencyKey;
  causeIn(headers);
  addSecret(connector, headers, query);
  const root = trimmedEnd(base.pathname, "/");
  const search = query.filter((part) => part !== "").join("&");
  const joined = path === "" ? base.pathname : root + (path.startsWith("/") ? path : `/${path}`);
  const url = `${base.origin}${joined}${search === "" ? "" : `?${search}`}`;
  // The parts are checked already; this makes sure that the whole URL stays below the connector's address.
  mustStayBelow(base, new URL(url), "base");
  return { url, method: method.method, headers, body };
}

/** A connector's secret goes nowhere else. */
export function mustStayBelow(base: URL, target: URL, field: string): void {
  const root = trimmedEnd(base.pathname, "/");
  if (target.origin !== base.origin || !`${target.pathname}/`.startsWith(`${root}/`))
    throw invalid({
      [field]: [
        field === "base"
          ? "the parameters lead outside the connector's address"
          : `must be below the connector's address, ${base.origin}${root}`,
      ],
    });
}

/** If the call leads back here, the depth of the loop is counted. */
export function causeIn(headers: Record<string, string>): void {
  const cause = currentCausation();
  if (cause) headers[causationHeader] = causationToHeader(cause);
}

function setHeader(headers: Record<string, string>, name: string, value: string): void {
  headers[name.toLowerCase()] = value;
}

export function addSecret({ secret, fields }: OpenConnector, headers: Record<string, string>, query: string[]): void {
  if (secret === null) return;
  const auth = authOf(fields);
  const value = auth.prefix === "" ? secret : `${auth.prefix} ${secret}`;
  if (auth.in === "header") setHeader(headers, auth.name, value);
  else query.push(`${encodeURIComponent(auth.name)}=${encodeURIComponent(value.toWellFormed())}`);
}

function bodyOf(
  method: Method,
  call: KindCall,
  fill: ReturnType<typeof createFiller>,
  headers: Record<string, string>,
): string | undefined {
  if (method.method === "GET" || method.method === "HEAD") return undefined;
  const type = headers["content-type"]?.toLowerCase() ?? "";
  if (method.body === undefined) {
    const unused = method.method === "DELETE" ? {} : fill.unused();
    if (call.fallbackBody === undefined && Object.keys(unused).length === 0) return undefined;
    if (call.fallbackBody === undefined && type.includes("x-www-form-urlencoded"))
      return Object.entries(unused)
        .flatMap(([name, value]) => formPairs(name, value))
        .join("&");
    headers["content-type"] ??= "application/json; charset=utf-8";
    return JSON.stringify(call.fallbackBody ?? unused);
  }
  if (typeof method.body === "string") {
    if (type.includes("x-www-form-urlencoded")) return fill.encoded(method.body);
    return isJsonText(method.body, headers) ? fill.jsonText(method.body) : fill.text(method.body);
  }
  if (type.includes("x-www-form-urlencoded"))
    return Object.entries(method.body ?? {})
      .flatMap(([name, template]) => fill.pairs(name, template))
      .join("&");
  headers["content-type"] ??= "application/json; charset=utf-8";
  return JSON.stringify(fill.json(method.body));
}

/** By its type; a text without one gets it by how it begins. */
export function isJsonText(text: string, headers: Record<string, string>): boolean {
  headers["content-type"] ??= `${/^\s*[{[]/.test(text) ? "application/json" : "text/plain"}; charset=utf-8`;
  return headers["content-type"].toLowerCase().includes("json");
}

interface SendOptions {
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
  /** Whoever is told of an event has taken it with any 2xx, whatever it says. */
  readonly needsAnswer: boolean;
}

/** Sends it. Idempotent requests are tried again after 429 and 503, within the time limit of the whole call. */
export async function send(
  fetch: BaseContext["fetch"],
  request: HttpRequest,
  options: SendOptions,
): Promise<CallOutcome> {
  const startedAt = performance.now();
  const left = () => options.timeoutMs - (performance.now() - startedAt);
  for (let retries = 0; ; retries++) {
    const outcome = await sendOnce(fetch, request, { ...options, timeoutMs: Math.max(1, left()) });
    const durationMs = Math.round(performance.now() - startedAt);
    const again = (outcome.status === 429 || outcome.status === 503) && idempotent.has(request.method);
    const waitSeconds = outcome.retryAfterSeconds ?? 0.25 * 2 ** retries;
    const tooLong = waitSeconds > maxWaitSeconds || waitSeconds * 1000 >= left();
    if (!again || retries === maxRetries || tooLong || options.signal?.aborted) return { ...outcome, durationMs };
    await pause(waitSeconds * 1000, options.signal);
  }
}

async function sendOnce(
  fetch: BaseContext["fetch"],
  { url, ...request }: HttpRequest,
  { timeoutMs, signal, needsAnswer }: SendOptions,
): Promise<CallOutcome> {
  const { body, ...head } = request;
  try {
    const answer = await fetch(url, {
      ...head,
      ...(body === undefined ? {} : { body }),
      ...(signal ? { signal } : {}),
      timeoutMs,
      maxBytes,
      redirect: "same-origin",
    });
    const isSuccess = answer.status >= 200 && answer.status < 300;
    const { data, isBroken } = dataOf(answer.text(), answer.headers.get("content-type") ?? "");
    const ok = isSuccess && !(isBroken && needsAnswer);
    return {
      ok,
      status: answer.status,
      headers: Object.fromEntries(answer.headers),
      data,
      error: isSuccess
        ? ok
          ? null
          : "the remote's answer is not JSON, though its Content-Type says so"
        : `the remote answered ${answer.status}`,
      retryAfterSeconds: ok ? null : parseRetryAfter(answer.headers.get("retry-after")),
      durationMs: 0,
    };
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    if (!(error instanceof OutboundFault)) throw error;
    return {
      ok: false,
      status: error.status ?? null,
      data: null,
      error: error.message,
      retryAfterSeconds: null,
      durationMs: 0,
    };
  }
}

/** The JSON, also of an object or array with another content type; else the text; null if it is empty. */
function dataOf(text: string, type: string): { data: unknown; isBroken: boolean } {
  const mime = type.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  const isJson = mime.endsWith("/json") || mime.endsWith("+json");
  if (text === "") return { data: null, isBroken: false };
  if (!isJson && !/^\s*[{[]/.test(text)) return { data: text, isBroken: false };
  try {
    return { data: parseExactly(text), isBroken: false };
  } catch {
    return { data: text, isBroken: isJson };
  }
}

async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  const stop = () => resolve();
  signal?.addEventListener("abort", stop);
  await promise;
  clearTimeout(timer);
  signal?.removeEventListener("abort", stop);
}

/** The methods of a connector as people choose one: what each does and which parameters it takes. Pure. */
export function describedMethods(methods: readonly MethodFacts[], fields: Readonly<Record<string, unknown>>) {
  const declared = recordOf(fields["methods"]) ?? {};
  return methods.map(({ name, public: isPublic, parameters }) => {
    const method = recordOf(declared[name]);
    const description = method?.["description"];
    return {
      name,
      description: typeof description === "string" ? description : null,
      parameters: [...(parameters ?? parametersOf(method))],
      public: isPublic,
    };
  });
}

/** Of `{event.data.id}` it is `event`. */
export function parametersOf(method: Readonly<Record<string, unknown>> = {}): string[] {
  const { description: _, ...rest } = method;
  const texts = Object.values(rest).flatMap(textsIn);
  return [...new Set(texts.flatMap((text) => placeholders(text)).map((name) => name.split(".")[0] ?? name))];
}

function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [key, ...textsIn(inner)]);
}
