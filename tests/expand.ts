/**
 * While a new version is put beside the old one, both work on one database: a migration may add, and takes away only what
 * no version uses any more. One that takes away begins with the release that stopped using it:
 *
 *     -- contract after 0.2.0: the column `state`
 */
interface Destructive {
  readonly pattern: RegExp;
  readonly says: string;
}

const destructive: readonly Destructive[] = [
  { pattern: /\bdrop (?:table|column|view|function|type|sequence)\b/i, says: "the old version still reads it" },
  { pattern: /\balter table [^;]* rename\b/i, says: "the old version uses the old name" },
  { pattern: /\balter (?:column )?\w+ (?:set data )?type\b/i, says: "the old version expects the old type" },
  { pattern: /\balter (?:column )?\w+ set not null\b/i, says: "the old version may leave it out" },
  { pattern: /\balter (?:column )?\w+ drop default\b/i, says: "the old version leaves it out" },
  { pattern: /\btruncate\b/i, says: "the old version still reads it" },
];
/** With the table that it is of, and the rest of the statement. */
const narrowing: readonly RegExp[] = [
  /\balter table (?:only )?(\w+) [^;]*?\badd (?:constraint \w+ )?(?:check|unique|foreign key|exclude)\b([^;]*)/gi,
  /\bcreate unique index (?:if not exists )?(?:\w+ )?on (\w+)([^;]*)/gi,
];
const addedColumn = /\badd column (?:if not exists )?[^;]*?(?=,\s*add\b|;|$)/gi;
const marker = /^-- contract after (\d+)\.(\d+)\.(\d+): ./;

/** What is wrong with a migration of this version; undefined if nothing is. */
export function mistakeIn(sql: string, version: string): string | undefined {
  const after = marker.exec(sql)?.slice(1).map(Number);
  const bare = sql.replaceAll(/--.*/g, "").replaceAll(/\s+/g, " ");
  const found = takesAway(bare);
  if (found === undefined) return after && "it is marked as a contract, and takes nothing away";
  if (!after) return `${found}: add first, and take away in a later release (docs/development.md)`;
  return isLater(version.split(".").map(Number), after) ? undefined : "the release that it waits for is not out yet";
}

function takesAway(bare: string): string | undefined {
  const wrong = destructive.find(({ pattern }) => pattern.test(bare));
  if (wrong) return `"${wrong.pattern.exec(bare)?.[0].slice(-60)}": ${wrong.says}`;
  const added = (bare.match(addedColumn) ?? []).find(
    (one) => /\bnot null\b/i.test(one) && !/\bdefault\b|\bgenerated\b/i.test(one),
  );
  return added ? `"${added.slice(0, 60)}": the old version leaves it out` : narrows(bare);
}

/** What rows must satisfy from now on, but of a new table or a new column, which the old version does not write. */
function narrows(bare: string): string | undefined {
  const created = new Set([...bare.matchAll(/\bcreate table (?:if not exists )?(\w+)/gi)].map(([, name]) => name));
  const added = [...bare.matchAll(/\badd column (?:if not exists )?(\w+)/gi)].map(([, name = ""]) => name);
  const isNew = (rest: string) => added.some((name) => new RegExp(`\\b${name}\\b`).test(rest));
  const found = narrowing
    .flatMap((pattern) => [...bare.matchAll(pattern)])
    .find(([, name, rest = ""]) => !created.has(name) && !isNew(rest));
  return found && `"${found[0].slice(0, 60)}": the old version may write what it refuses`;
}

function isLater(version: readonly number[], than: readonly number[]): boolean {
  const at = version.findIndex((part, n) => part !== than[n]);
  return at !== -1 && (version[at] ?? 0) > (than[at] ?? 0);
}
