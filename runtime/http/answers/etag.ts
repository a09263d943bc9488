import { preconditionFailed } from "../../base/errors.ts";
import { contentHash } from "../../base/hash.ts";
import type { Sql } from "../../db/db.ts";

/**
 * The ETag of a row's version, e.g. `"3-7"`. An answer that also tells what changes without a new version (when a cron
 * ran last, say) gives itself as `shown`: If-None-Match then compares all of it, and If-Match only the version.
 */
export function etag(id: string | number, version: number, shown?: unknown): string {
  const rest = shown === undefined ? "" : `.${contentHash(JSON.stringify(shown)).replace("-", "")}`;
  return `"${id}-${version}${rest}"`;
}

/**
 * The version that an `If-Match` header asks for, to be compared in the update's `where`: undefined without the header
 * (or for `*`), 0 (which no row has) if no tag belongs to this object. Check first that the object exists: an unknown
 * one is 404, another version 412. behaviour B.3.
 *
 * More digits than an integer column has are no version, unless `digits` says that versions are longer.
 */
export function expectedVersion(request: Request, id: string | number, digits = 9): number | undefined {
  const given = request.headers.get("if-match")?.trim();
  if (!given || given === "*") return undefined;
  const versions = tagsIn(given).map((tag) => {
    const [, tagged, version = ""] = /^"(.+)-(\d{1,16})(?:\.\w{1,32})?"$/.exec(tag) ?? [];
    return tagged === `${id}` && version.length <= digits ? Number(version) : 0;
  });
  // Versions only grow, so of several only the highest can be the present one.
  return Math.max(0, ...versions);
}

/** Throws the 412 if the row has another version by now; `expected` is from `expectedVersion`. */
export function mustMatch({ version }: { readonly version: number }, expected: number | undefined): void {
  if (expected !== undefined && version !== expected) throw preconditionFailed();
}

/**
 * Whether `If-None-Match` contains this tag by weak comparison: the client's copy is current (RFC 9110 13.1.2).
 */
export function isKnownTag(ifNoneMatch: string | null, tag: string): boolean {
  if (ifNoneMatch === null) return false;
  return ifNoneMatch.trim() === "*" || tagsIn(ifNoneMatch).includes(tag.replace(/^W\//, ""));
}

/** `W/"a", "b"` -> `"a"`, `"b"` */
function tagsIn(header: string): string[] {
  return header.match(/"[^"]*"/g) ?? [];
}

// Remembers where a database's server can be reached, for commands that run beside it and print addresses.

const key = "served_at";
const answersWithinMs = 1_000;

/** Call it when the server listens. */
export async function rememberOrigin(sql: Sql, origin: string): Promise<void> {
  await sql`
    insert into runtime_state (key, value) values (${key}, ${origin})
    on conflict (key) do update set value = excluded.value where runtime_state.value <> excluded.value`;
}

/** The address of the server that runs on this database, if it can be reached from here. */
export async function runningOrigin(sql: Sql): Promise<string | undefined> {
  const [row] = await sql<{ value: string }[]>`select value from runtime_state where key = ${key}`;
  if (!row) return undefined;
  const health = fetch(`${row.value}/health`, { signal: AbortSignal.timeout(answersWithinMs) });
  const isThere = await health.then(
    ({ ok }) => ok,
    () => false,
  );
  return isThere ? row.value : undefined;
}
