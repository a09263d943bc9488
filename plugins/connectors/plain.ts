/** A request that says everything itself, as the step `http` of a flow does. behaviour B.9. */
import { invalid, isObject, type BaseContext } from "platform";
import type { CallOutcome, HttpAsked, OpenConnector } from "./api.ts";
import { recordOf, requestMistakes } from "./definition.ts";
import { addSecret, causeIn, mustStayBelow, isJsonText, send, type HttpRequest } from "./custom.ts";
import { formPairs } from "./fill.ts";

/** Throws a 422 that names every mistake. */
export function plainRequest(
  asked: HttpAsked,
  connector: OpenConnector | undefined,
  idempotencyKey: string | undefined,
): HttpRequest {
  const mistakes = requestMistakes({ ...asked });
  if (Object.keys(mistakes).length > 0) throw invalid(mistakes);
  const target = new URL(asked.url);
  const method = typeof asked.method === "string" ? asked.method.toUpperCase() : "GET";
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
