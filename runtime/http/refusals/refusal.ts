import { LoopError } from "../../scope/causation.ts";
import { databaseFault, type DatabaseFault } from "../../db/db.ts";
import { conflict, HttpError, unavailable, ValidationError } from "../../base/errors.ts";
import type { Log } from "../../system/log.ts";
import { jsonType, type Reply } from "../answers/reply.ts";
import { diskFull, isDiskFull } from "../../system/room.ts";
import { SecretFault } from "../../base/secrets.ts";

/** Turns whatever a handler threw into an answer. Unexpected errors are logged in full and answered with a bare 500. */
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
  // 508 (RFC 5842): not a bug of ours, and a retry does not help.
  if (error instanceof LoopError) return new HttpError(508, { error: error.message });
  if (error instanceof SecretFault) {
    log?.error("a stored secret cannot be opened", { request_id: requestId, error });
    return conflict("a stored secret cannot be opened (was SECRET_KEY changed?): enter it again");
  }
  const fault = databaseFault(error);
  if (fault === "unavailable") {
    log?.warn("database unavailable", { request_id: requestId, error });
    return isDiskFull(error) ? diskFull() : unavailable();
  }
  if (fault === undefined) return undefined;
  if (fault !== "unique") log?.warn("database refused a value", { request_id: requestId, error });
  return new ValidationError({ [refusedField(error, fault)]: [refusedValues[fault]] });
}

type Refused = Exclude<DatabaseFault, "unavailable">;

const refusedValues: Record<Refused, string> = {
  unique: "is already taken",
  check: "is not allowed",
  exclusion: "conflicts with another one",
  missing: "is required",
  reference: "refers to something that does not exist, or others still refer to it",
  "too-long": "has a text that is too long",
  "out-of-range": "has a number that is out of range",
  "bad-input": "has a value that cannot be stored",
};

/**
 * Constraints are named `<table>_<kind>_<field>`, e.g. `notes_check_stars`, or as PostgreSQL names those of a single
 * column.
 */
function refusedField(error: unknown, fault: Refused): string {
  const told = (key: "table_name" | "column_name" | "constraint_name") =>
    error instanceof Error ? String(Object.entries(error).find(([name]) => name === key)?.[1] ?? "") : "";
  if (fault === "missing") return told("column_name") || "base";
  const name = told("constraint_name");
  const own = name.split(`_${fault}_`)[1];
  if (own) return own;
  const end = fault === "check" ? "_check" : fault === "reference" ? "_fkey" : undefined;
  const start = `${told("table_name")}_`;
  if (end === undefined || !name.startsWith(start) || !name.endsWith(end)) return "base";
  // In a key of two columns, the account's column says nothing.
  return name.slice(start.length, -end.length).replace(/^account_id_/, "") || "base";
}
