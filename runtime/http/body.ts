import type { TObject } from "@sinclair/typebox";
import { badRequest, HttpError, tooLarge, unsupportedType } from "../base/errors.ts";
import { isObject } from "../base/values.ts";
import { formFields, isForm } from "./form.ts";
import { bodyHints } from "./refusals/unknown.ts";
import { printedLength, readBounds } from "../base/read-bounds.ts";
import { knownFields, mayBeUnstorable, parseJson, readJson, refuseLong, refuseUnstorable } from "./validate.ts";

export interface RouteBody {
  readonly body?: { readonly key?: string; readonly beside?: readonly string[]; readonly schema: TObject };
  readonly input?: "stream" | "any" | "form" | "fields";
  readonly unstorable?: "own";
  readonly maxBytes?: number;
  readonly strangerBytes?: number;
}

/** The largest body of an anonymous request, unless its route says otherwise. */
const strangerBytes = 16_384;

/** `maxBytes` is the largest body of any request. */
export function bodyLimit(route: RouteBody, isStranger: boolean, maxBytes: number): number {
  return Math.min(maxBytes, route.maxBytes ?? maxBytes, isStranger ? (route.strangerBytes ?? strangerBytes) : maxBytes);
}

/** Whether the runtime reads the body of a request; else the handler does, or nobody. */
export function takesBody({ body, input }: RouteBody): boolean {
  return input === "any" || input === "fields" || (body !== undefined && input !== "stream");
}

/** 415 a body in another encoding than it is read in, whoever reads it. RFC 9110 15.5.16. */
export function refuseEncoded({ headers }: Request, route: RouteBody): void {
  const encoding = headers.get("content-encoding") ?? "identity";
  if (encoding.toLowerCase() === "identity" || !(takesBody(route) || route.input === "stream")) return;
  const error = `send the body without \`Content-Encoding: ${encoding.slice(0, 100)}\``;
  throw new HttpError(415, { error }, { "accept-encoding": "identity" });
}

/**
 * Reads and parses a request's body as its route declares: the object inside the body's key, or any JSON value. `hints`
 * receives a hint for each field that the route does not know. 400 without JSON or the key, 413 if too large, 415 for
 * another type, 422 if PostgreSQL cannot store a field's value.
 */
export async function readBody(
  request: Request,
  route: RouteBody,
  maxBytes: number,
  hints: string[] = [],
): Promise<unknown> {
  const header = request.headers.get("content-type") ?? "";
  const type = header.split(";", 1)[0]?.trim().toLowerCase();
  const source = await readText(request, maxBytes);
  if (route.input === "fields" && isForm(header)) return formFields(source, header);
  if (route.input === "form" && type === "application/x-www-form-urlencoded")
    return Object.fromEntries(new URLSearchParams(source));
  // An empty body has no type.
  if (source !== "" && !isJson(type)) throw unsupportedType();
  if (route.input === "any" || route.input === "fields") {
    if (source === "") return {};
    return route.unstorable === "own" ? readJson(source) : parseJson(source);
  }
  const whole = readJson(source);
  const fields = withBeside(unwrap(whole, route.body?.key), Object(whole), route.body?.beside);
  if (route.body) hints.push(...bodyHints(route.body, Object(whole), fields));
  if (route.body && printedLength(source) > Math.max(source.length, readBounds.bodyCharacters))
    refuseLong(knownFields(route.body.schema, fields));
  if (route.body && mayBeUnstorable(source)) refuseUnstorable(knownFields(route.body.schema, fields));
  return fields;
}

/** Browsers send reports, which are JSON, as `application/csp-report`. */
function isJson(type: string | undefined): boolean {
  return type === "application/json" || type === "application/csp-report" || type?.endsWith("+json") === true;
}

function withBeside(fields: Record<string, unknown>, whole: object, names: readonly string[] = []) {
  const given = names.filter((name) => Object.hasOwn(whole, name));
  if (given.length === 0) return fields;
  return { ...fields, ...Object.fromEntries(given.map((name) => [name, Reflect.get(whole, name)])) };
}

function unwrap(value: unknown, key: string | undefined): Record<string, unknown> {
  if (!isObject(value)) throw badRequest("the body must be a JSON object");
  if (key === undefined) return value;
  const inner = Object.hasOwn(value, key) ? value[key] : undefined;
  if (!isObject(inner)) throw badRequest(`the body must be { "${key}": { … } }`);
  return inner;
}

/** Reads the body as text, up to `maxBytes`. Refuses invalid UTF-8 instead of replacing it. */
async function readText(request: Request, maxBytes: number): Promise<string> {
  const declared = request.headers.get("content-length");
  if (declared !== null && Number(declared) > maxBytes) throw tooLarge(maxBytes);
  const bytes = await completed(declared === null ? readAtMost(request, maxBytes) : request.bytes());
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    const refusal: HttpError = badRequest("the body is not valid UTF-8");
    refusal.cause = cause;
    throw refusal;
  }
}

/** A client that hangs up meanwhile has made a mistake, and is no failure of the server. */
async function completed(reading: Promise<Uint8Array>): Promise<Uint8Array> {
  try {
    return await reading;
  } catch (cause) {
    if (cause instanceof HttpError) throw cause;
    throw Object.assign(badRequest("the body ended before it was complete"), { cause });
  }
}

/** A chunked body does not declare its length. */
async function readAtMost(request: Request, maxBytes: number): Promise<Uint8Array> {
  if (!request.body) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body) {
    size += chunk.byteLength;
    if (size > maxBytes) throw tooLarge(maxBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
