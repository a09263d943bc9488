import { LoopError } from "./causation.ts";
import { databaseFault } from "./db.ts";
import { conflict, HttpError, unavailable, ValidationError } from "./errors.ts";
import type { Log } from "./log.ts";
import { jsonType, type Reply } from "./reply.ts";
import { SecretFault } from "./secrets.ts";

/** Turns whatever a handler threw into its answer. What nobody foresaw is logged whole, and told as a bare 500. */
export function refusalOf(error: unknown, log: Log | undefined, requestId: string, shape?: "plain" | "wrapped"): Reply {
  const known = error instanceof HttpError ? error : knownError(error, log, requestId);
  if (!known) {
    log?.error("request failed", { request_id: requestId, error });
    return answer(500, { error: "internal error", request_id: requestId });
  }
  const body = known instanceof ValidationError && shape === "wrapped" ? { errors: known.fields } : known.body;
  return answer(known.status, body, known.headers);
}

function answer(status: number, body: unknown, headers: Record<string, string> = {}): Reply {
  return { status, body: JSON.stringify(body), headers: { "content-type": jsonType, ...headers } };
}

function knownError(error: unknown, log: Log | undefined, requestId: string): HttpError | undefined {
  // 508 (RFC 5842): not a mistake of ours, and trying again does not help.
  if (error instanceof LoopError) return new HttpError(508, { error: error.message });
  if (error instanceof SecretFault) {
    log?.error("a stored secret cannot be opened", { request_id: requestId, error });
    return conflict("a stored secret cannot be opened (was SECRET_KEY changed?): enter it again");
  }
  const fault = databaseFault(error);
  if (fault === "unavailable") {
    log?.warn("database unavailable", { request_id: requestId, error });
    return unavailable();
  }
  if (fault === "unique") return new ValidationError({ [takenField(error)]: ["is already taken"] });
  if (fault === "bad-input") {
    log?.warn("database refused a value", { request_id: requestId, error });
    return new ValidationError({ base: ["has a value that cannot be stored"] });
  }
  return undefined;
}

/** Unique constraints are named `<table>_unique_<field>`. */
function takenField(error: unknown): string {
  const name = error instanceof Error && "constraint_name" in error ? String(error.constraint_name) : "";
  return name.split("_unique_")[1] ?? "base";
}
