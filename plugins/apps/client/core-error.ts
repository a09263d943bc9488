/** The error that a refused call rejects with. */
export class CoreError extends Error {
  /** The HTTP status; 0 if no answer came, 500 if an action's flow failed. */
  readonly status: number;
  /** Field name to messages, if the server refused fields (422). */
  readonly errors: Readonly<Record<string, readonly string[]>>;

  constructor(status: number, message: string, errors: Readonly<Record<string, readonly string[]>> = {}) {
    super(message);
    this.name = "CoreError";
    this.status = status;
    this.errors = errors;
  }
}

/** Reads the error from an answer's body: `{ error }`, `{ error, errors }`, or fields to messages. */
export function errorOf(status: number, body: unknown): CoreError {
  if (!isObject(body)) return new CoreError(status, `the server answered ${status}`);
  const fields = fieldErrors(isObject(body.errors) ? body.errors : body);
  const told = typeof body.error === "string" ? body.error : undefined;
  const first = Object.entries(fields)[0];
  const message = told ?? (first ? `${first[0]} ${first[1][0] ?? ""}` : `the server answered ${status}`);
  return new CoreError(status, message, fields);
}

function fieldErrors(value: Record<string, unknown>): Record<string, string[]> {
  const fields: Record<string, string[]> = {};
  for (const [field, messages] of Object.entries(value)) {
    if (Array.isArray(messages)) fields[field] = messages.map(String);
  }
  return fields;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
