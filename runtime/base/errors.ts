/** Every refusal that a client can get, as a table: a status, a body and headers. behaviour B.3. */

/** Field name (or `base`) to the mistakes in it. */
export type FieldErrors = Record<string, string[]>;

/** A refusal: the runtime answers with `status`, and `body` as JSON. */
export class HttpError extends Error {
  readonly status: number;
  readonly body: unknown;
  readonly headers: Record<string, string>;

  constructor(status: number, body: unknown, headers: Record<string, string> = {}) {
    super(typeof body === "object" && body !== null && "error" in body ? String(body.error) : `status ${status}`);
    this.name = "HttpError";
    this.status = status;
    this.body = body;
    this.headers = headers;
  }
}

/** 422 by fields. A route decides whether its area wraps them in `errors` (behaviour 7). */
export class ValidationError extends HttpError {
  readonly fields: FieldErrors;

  constructor(fields: FieldErrors) {
    super(422, fields);
    this.name = "ValidationError";
    this.fields = fields;
  }
}

const refusal =
  (status: number, standard: string) =>
  (text = standard): HttpError =>
    new HttpError(status, { error: text });

export const badRequest = refusal(400, "the request cannot be read");
export const forbidden = refusal(403, "this is not allowed");
export const notFound = refusal(404, "not found");
export const conflict = refusal(409, "this conflicts with an earlier request");
export const preconditionFailed = refusal(412, "the object has changed since you read it");
export const unsupportedType = refusal(415, "send application/json");

export function unauthorized(text = "sign in, or send `Authorization: Bearer <token>`"): HttpError {
  return new HttpError(401, { error: text }, { "www-authenticate": "Bearer" });
}

export function methodNotAllowed(allowed: readonly string[]): HttpError {
  return new HttpError(405, { error: `use ${allowed.join(" or ")}` }, { allow: allowed.join(", ") });
}

export function tooLarge(maxBytes: number): HttpError {
  return new HttpError(413, { error: `the body may have at most ${maxBytes} bytes` });
}

export function tooMany(retryAfterSeconds: number): HttpError {
  const seconds = Math.max(1, Math.ceil(retryAfterSeconds));
  return new HttpError(429, { error: `too many requests, try again in ${seconds} s` }, { "retry-after": `${seconds}` });
}

export function unavailable(text = "the database does not answer, try again"): HttpError {
  return new HttpError(503, { error: text }, { "retry-after": "1" });
}

/** 422 for these fields: `throw invalid({ name: ["can't be blank"] })`. */
export function invalid(fields: FieldErrors): ValidationError {
  return new ValidationError(fields);
}

/** "city is required; id can't be blank", for places that show one line of text. */
export function sentenceOf(fields: FieldErrors): string {
  return Object.entries(fields)
    .flatMap(([field, messages]) => messages.map((message) => (field === "base" ? message : `${field} ${message}`)))
    .join("; ");
}

/** Collects the mistakes of one object to throw them together. */
export function mistakes() {
  const fields = new Map<string, string[]>();
  return {
    add(field: string, message: string): void {
      const messages = fields.get(field);
      if (messages) messages.push(message);
      else fields.set(field, [message]);
    },
    get any(): boolean {
      return fields.size > 0;
    },
    /** Throws the 422 if anything was added. */
    check(): void {
      if (fields.size > 0) throw invalid(Object.fromEntries(fields));
    },
  };
}
