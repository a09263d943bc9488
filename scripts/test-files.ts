/**
 * Reads the test files and all their imports for `scripts/test`:
 *
 *     bun scripts/test-files.ts needs PATH…    the programs that their comments `// needs: NAME` name, one a line
 *     bun scripts/test-files.ts quick          the files of `scripts/test --quick`, one a line
 *     bun scripts/test-files.ts times          about how long each takes, for `bun test --timings`
 */
import { globSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

const root = resolve(import.meta.dir, "..");
const imported = /(?:from|import) "(\.[^"]{1,200})"/g;
const need = /^\/\/ needs: ([a-z0-9 -]{1,100})$/gm;

/** Each route's example, the rules of routes and documents; beside them stands whatever starts no server. */
const examples = ["tests/docs-examples.test.ts", "tests/openapi.test.ts"];
/** Starts a server or a database, takes long, or is part of `bun run check`. */
const slow = [
  "tests/harness.ts",
  "tests/server-process.ts",
  "tests/other-postgres.ts",
  "runtime/operations/postgres/embedded-postgres.ts",
  "runtime/child/child.ts",
  "runtime/base/password.test.ts",
  "tests/architecture.test.ts",
  "tests/regular-expressions.test.ts",
];

/** The test files in these files and folders; without a path, all. */
export function testFiles(paths: readonly string[] = []): string[] {
  const all = globSync("{clients,plugins,runtime,scripts,sites,tests}/**/*.test.ts", { cwd: root });
  const given = paths.map((path) => relative(root, resolve(path)));
  const isGiven = (file: string) => given.some((path) => file === path || file.startsWith(join(path, "/")));
  return (paths.length === 0 ? all : all.filter(isGiven)).toSorted();
}

/** The file and all that it imports by a relative path, each once. */
export function reach(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  for (const part of read(file).imports) reach(part, seen);
  return seen;
}

export function needsOf(files: readonly string[]): string[] {
  const seen = new Set<string>();
  for (const file of files) reach(file, seen);
  return [...new Set([...seen].flatMap((file) => read(file).needs))].toSorted();
}

export function quickFiles(): string[] {
  const isQuick = (file: string) => {
    const reached = reach(file);
    return !slow.some((one) => reached.has(one)) && needsOf([file]).length === 0;
  };
  return [...testFiles().filter(isQuick), ...examples];
}

/**
 * In milliseconds, and only their order counts, so that nobody has to keep measured times. What starts processes or a
 * browser, or spans plugins, takes ten times as long as others with a database and keeps the processors busy, while others
 * also wait. It is spread among the first four fifths of those, so that there is work for the processors at any time and
 * no worker is alone with it in the end. What needs no database is done in no time and comes last. A file without a time
 * would begin before them.
 */
export function timesOf(files: readonly string[]): Record<string, number> {
  const isLong = (file: string) =>
    file.startsWith("tests/") || reach(file).has("tests/server-process.ts") || reach(file).has("tests/chromium.ts");
  const long = files.filter(isLong);
  const others = files.filter((file) => !isLong(file));
  // The harness starts a PostgreSQL too.
  const withServer = others.filter((file) => reach(file).has("runtime/operations/postgres/embedded-postgres.ts"));
  const spread = [
    ...long.map((file, at) => ({ file, place: 4 * at * withServer.length })),
    ...withServer.map((file, at) => ({ file, place: 5 * at * long.length })),
  ].toSorted((a, b) => a.place - b.place);
  const inTurn = [...spread.map(({ file }) => file), ...others.filter((file) => !withServer.includes(file))];
  return Object.fromEntries(inTurn.map((file, at) => [file, inTurn.length - at]));
}

const known = new Map<string, { readonly imports: readonly string[]; readonly needs: readonly string[] }>();

function read(file: string) {
  const before = known.get(file);
  if (before) return before;
  const path = join(root, file);
  const text = statSync(path, { throwIfNoEntry: false })?.isFile() ? readFileSync(path, "utf8") : "";
  const all = (pattern: RegExp) => [...text.matchAll(pattern)].map(([, part = ""]) => part);
  const found = { imports: all(imported).map((part) => join(dirname(file), part)), needs: all(need) };
  known.set(file, found);
  return found;
}

if (import.meta.main) {
  const [what, ...paths] = process.argv.slice(2);
  if (what === "times") {
    process.stdout.write(JSON.stringify({ version: 1, files: timesOf(testFiles()) }));
  } else {
    const lines = what === "quick" ? quickFiles() : needsOf(testFiles(paths));
    process.stdout.write(lines.map((line) => `${line}\n`).join(""));
  }
}
