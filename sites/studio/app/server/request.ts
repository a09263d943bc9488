/**
 * Requests to the public API with the session's cookie. They outlast a server that is away for a while, and a session
 * that ends: the frame says so meanwhile, and the request goes on.
 */
import { answersPath } from "../address.ts";
import { connection } from "../state/connection.svelte.ts";
import { parseJson } from "./exact.ts";
import { isMap, textOf } from "../resources/values.ts";

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** Null where the body is empty. */
  readonly json: unknown;
}

export interface Options {
  readonly body?: unknown;
  readonly ifMatch?: string | undefined;
  readonly signal?: AbortSignal;
  /** Nobody waits for it: it neither asks a person to sign in nor tries again. */
  readonly quiet?: boolean;
  /** Of a POST that is sent again after all attempts have failed. */
  readonly key?: string;
}

/** A refusal: by fields for a 422, in one sentence otherwise. */
export class ApiError extends Error {
  readonly status: number;
  readonly errors: Readonly<Record<string, readonly string[]>>;
  /** The whole answer, e.g. with what another service has said. */
  readonly json: unknown;

  constructor(status: number, message: string, errors: ApiError["errors"] = {}, json?: unknown) {
    super(message);
    this.status = status;
    this.errors = errors;
    this.json = json;
  }
}

/** What went wrong, in words. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The session's own address: it is asked before anybody is known, and by whoever signs in next. */
export const sessionPath = "/account/session.json";
let person: number | undefined;

/** From now on the server refuses a request if the cookie has become somebody else's, in another tab. */
export function actAs(id: number): void {
  person = id;
}

export function personHeader(): Record<string, string> {
  return person === undefined ? {} : { "x-signed-in-as": String(person) };
}

/** A page's first requests, sent before the page is loaded. */
const early = new Map<string, Promise<Response | undefined>>();
const earlyMs = 5000;

/** Begins these GETs in one: whoever asks for one of them next gets its answer. What nobody asks for soon is forgotten. */
export function askEarly(paths: readonly string[]): void {
  if (paths.length === 0) return;
  const all = answersTo(paths);
  for (const [at, path] of paths.entries())
    early.set(
      path,
      all.then(async (answers) => {
        const one = answers[at];
        if (!one) return sent("GET", path, {});
        return new Response(one.body, { headers: { "content-type": "application/json", ...one.headers } });
      }),
    );
  setTimeout(() => {
    for (const path of paths) early.delete(path);
  }, earlyMs);
}

interface Part {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** None where they could not be had. */
async function answersTo(paths: readonly string[]): Promise<readonly (Part | null)[]> {
  const response = await sent("GET", answersPath(paths), {});
  // The API's own description declares it.
  return response?.ok ? ((await response.json()) as { readonly answers: readonly (Part | null)[] }).answers : [];
}

function earlyAnswer(method: string, path: string): Promise<Response | undefined> | undefined {
  const begun = method === "GET" ? early.get(path) : undefined;
  early.delete(path);
  return begun;
}

const attempts = 8;
const longestWaitMs = 15_000;

/** Throws an ApiError for anything but success. */
export async function request(method: string, path: string, options: Options = {}): Promise<Answer> {
  // The same key for each attempt: a request that did arrive is not done twice.
  const key = method === "POST" ? (options.key ?? crypto.randomUUID()) : undefined;
  for (let attempt = 1; ; attempt++) {
    const response = await (earlyAnswer(method, path) ?? sent(method, path, options, key));
    if (options.quiet) return quietAnswer(response);
    if (response && !isTransient(response)) {
      connection.trouble = undefined;
      if (response.status === 401 && path !== sessionPath) {
        await connection.signedInAgain();
        continue;
      }
      if (method !== "GET" && response.ok) for (const tell of listeners) tell(path);
      return answerOf(response);
    }
    connection.trouble = response ? "busy" : "offline";
    if (attempt === attempts) throw new ApiError(response?.status ?? 0, response?.statusText ?? "");
    await pause(waitOf(response, attempt), options.signal);
  }
}

/** Waits for a server that cannot be reached, however long; each attempt of a request lasts about a minute. */
export async function outlast<T>(run: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await run();
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 0)) throw error;
    }
  }
}

const listeners = new Set<(path: string) => void>();

/** Calls `tell` with the address of each change that has succeeded; what it gives back ends that. */
export function onChanged(tell: (path: string) => void): () => void {
  listeners.add(tell);
  return () => listeners.delete(tell);
}

function quietAnswer(response: Response | undefined): Promise<Answer> {
  if (!response) throw new ApiError(0, "");
  return answerOf(response);
}

export const get = (path: string, signal?: AbortSignal): Promise<Answer> =>
  request("GET", path, signal ? { signal } : {});

/** Undefined if the server could not be reached. */
async function sent(
  method: string,
  path: string,
  { body, ifMatch, signal }: Options,
  key?: string,
): Promise<Response | undefined> {
  const isSignIn = path === sessionPath && method === "POST";
  const headers: Record<string, string> = { accept: "application/json", ...(!isSignIn && personHeader()) };
  if (body !== undefined) headers["content-type"] = "application/json";
  if (ifMatch !== undefined) headers["if-match"] = ifMatch;
  if (key !== undefined) headers["idempotency-key"] = key;
  try {
    return await fetch(path, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    return undefined;
  }
}

/**
 * A 502 of a proxy is. One in JSON is an answer: another service has refused a call. So is a 503 that asks for patience
 * beyond ours: the disk is full, and somebody has to make room.
 */
function isTransient({ status, headers }: Response): boolean {
  if (status === 502) return !isJson(headers);
  if (status === 503) return !isJson(headers) || Number(headers.get("retry-after")) * 1000 <= longestWaitMs;
  return status === 504 || status === 429;
}

function isJson(headers: Headers): boolean {
  return headers.get("content-type")?.startsWith("application/json") ?? false;
}

function waitOf(response: Response | undefined, attempt: number): number {
  const asked = Number(response?.headers.get("retry-after") ?? Number.NaN);
  const own = 500 * 2 ** (attempt - 1);
  return Math.min(Number.isFinite(asked) ? asked * 1000 : own, longestWaitMs);
}

function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    addEventListener("online", () => resolve(), { once: true });
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    });
  });
}

async function answerOf(response: Response): Promise<Answer> {
  const { status, headers } = response;
  const body = await response.text();
  const json: unknown = isJson(headers) && body !== "" ? parseJson(body) : body === "" ? null : body;
  if (response.ok) return { status, headers, json };
  throw refusalOf(status, json);
}

/** `{ error }`, `{ errors: { field: […] } }` or `{ field: […] }`. */
export function refusalOf(status: number, json: unknown): ApiError {
  if (!isMap(json)) return new ApiError(status, textOf(json));
  if (typeof json["error"] === "string") return new ApiError(status, json["error"], {}, json);
  const fields = isMap(json["errors"]) ? json["errors"] : json;
  const errors = Object.fromEntries(Object.entries(fields).map(([name, said]) => [name, [said].flat().map(String)]));
  return new ApiError(
    status,
    Object.entries(errors)
      .map(([name, said]) => (name === "base" ? said.join(", ") : `${name} ${said.join(", ")}`))
      .join("; "),
    errors,
  );
}
