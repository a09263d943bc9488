/** The versions of an app: which of their fields differ from what stands in the form. Pure. */

type Values = Readonly<Record<string, unknown>>;

const about = new Set(["version", "created_at", "created_by_id", "source_code"]);

/** The names of the fields, without the code, in which a version differs. */
export function differing(version: Values, record: Values): string[] {
  return Object.keys(version).filter(
    (name) => !about.has(name) && canonical(version[name]) !== canonical(record[name]),
  );
}

/** JSON with its keys in order: the database does not keep theirs. */
function canonical(value: unknown): string {
  return JSON.stringify(value ?? null, (_, part: unknown) =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}
