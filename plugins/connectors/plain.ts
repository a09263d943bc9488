/** A request that says everything itself, as the step `http` of a flow does. behaviour B.9. */
import { invalid, isObject, type BaseContext, type FieldErrors } from "platform";
import type { CallOutcome, HttpAsked, OpenConnector } from "./api.ts";
import { checkHeaders, checkUrl, recordOf, verbs } from "./definition.ts";
import { addSecret, causeIn, mustStayBelow, isJsonText, send, type HttpRequest } from "./custom.ts";
import { formPairs } from "./fill.ts";

/** Its mistakes by key. `isOpen`: what is decided only when the step runs. */
export function requestMistakes(
  { method, url, query, headers, body }: Partial<Record<keyof HttpAsked, unknown>>,
  isOpen: (value: unknown) => boolean = () => false,
): FieldErrors {
  const found = new Map<string, string[]>();
  const wrong = (key: string, message: string) => found.set(key, [...(found.get(key) ?? []), message.trimStart()]);
  const isVerb = (value: unknown) => typeof value === "string" && verbs.some((known) => known === value.toUpperCase());
  if (!isOpen(method ?? "GET") && !isVerb(method ?? "GET")) wrong("method", `must be one of ${verbs.join(", ")}`);
  if (url === undefined || url === null || url === "") wrong("url", "is required");
  else if (typeof url !== "string") wrong("url", "must be a text");
  else if (!isOpen(url)) checkUrl(url, (message) => wrong("url", message));
  if (!isOpen(query) && query !== undefined && query !== null && !recordOf(query))
    wrong("query", "must be an object of name to value");
  const given = recordOf(headers);
  const known = given ? Object.fromEntries(Object.entries(given).filter(([, value]) => !isOpen(value))) : headers;
  if (!isOpen(headers)) checkHeaders(known, (message) => wrong("headers", message.replace(/^\.headers[.:]? ?/, "")));
  const hasBody = body !== undefined && body !== null && body !== "";
  if (hasBody && typeof method !== "string") wrong("body", "cannot be sent with GET");
  if (hasBody && typeof method === "string" && /^(?:GET|HEAD)$/i.test(method))
    wrong("body", `cannot be sent with ${method.toUpperCase()}`);
  return Object.fromEntries(found);
}

/** Throws a 422 that names every mistake. */
export function plainRequest(
  asked: HttpAsked,
  connector: OpenConnector | undefined,
  idempotencyKey: string | undefined,
): HttpRequest {
  const mistakes = requestMistakes(asked);
  if (Object.keys(mistakes).length > 0) throw invalid(mistakes);
  const target = new URL(asked.url);
  const method = String(asked.method ?? "GET").toUpperCase();
  const headers: Record<string, string> = { accept: "application/json, */*;q=0.5" };
  for (const [name, value] of Object.entries(recordOf(asked.headers) ?? {}))
    headers[name.toLowerCase()] = String(value);
  const query = [
    target.search.slice(1),
    ...Object.entries(recordOf(asked.query) ?? {}).flatMap(([name, value]) => formPairs(name, value)),
  ];
  if (idempotencyKey !== undefined && method !== "GET" && method !== "HEAD")
    headers["idempotency-key"] ??= idempotencyKey;
  causeIn(headers);
  if (connector) {
    mustStayBelow(new URL(connector.url), target, "url");
    addSecret(connector, headers, query);
  }
  target.search = query.filter((part) => part !== "").join("&");
  return { url: target.href, method, headers, body: bodyOf(asked.body, headers) };
}

function bodyOf(body: unknown, headers: Record<string, string>): string | undefined {
  if (body === undefined || body === null || body === "") return undefined;
  if (typeof body === "string") {
    isJsonText(body, headers);
    return body;
  }
  if (isObject(body) && headers["content-type"]?.toLowerCase().includes("x-www-form-urlencoded"))
    return Object.entries(body)
      .flatMap(([name, value]) => formPairs(name, value))
      .join("&");
  headers["content-type"] ??= "application/json; charset=utf-8";
  return JSON.stringify(body);
}

export function sendPlain(
  fetch: BaseContext["fetch"],
  connector: OpenConnector | undefined,
  { asked, idempotencyKey, timeoutMs, signal }: Sending,
): Promise<CallOutcome> {
  return send(fetch, plainRequest(asked, connector, idempotencyKey), { timeoutMs, signal, needsAnswer: true });
}

interface Sending {
  readonly asked: HttpAsked;
  readonly idempotencyKey?: string | undefined;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}
