/**
 * Keeps what a release asks of its database: `tests/release/statements.json.gz`, which tests/last-release.test.ts prepares on
 * later schemas. Run it on the tree of the release:
 *
 *     for at in tests/docs-examples.test.ts tests/openapi.test.ts tests/access-matrix.test.ts plugins; do
 *       RECORD_STATEMENTS=/tmp/statements bun test --timeout 120000 $at
 *     done
 *     bun scripts/statements.ts /tmp/statements
 */
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import manifest from "../package.json" with { type: "json" };

const [file = ""] = process.argv.slice(2);
/** Searches differ in their conditions; more of one beginning tell nothing new. */
const mostAlike = 6;
const alike = new Map<string, number>();
// A test may be ended in the middle of a line.
const lines = [...new Set(readFileSync(file, "utf8").split("\n").slice(0, -1))].toSorted((a, b) => a.length - b.length);
const statements = lines
  .filter((line) => {
    const beginning = line.replaceAll(/\$\d+/g, "$").slice(0, 200);
    const count = (alike.get(beginning) ?? 0) + 1;
    alike.set(beginning, count);
    return count <= mostAlike;
  })
  .map((line): unknown => JSON.parse(line));
const path = join(import.meta.dir, "../tests/release/statements.json.gz");
// tests/cluster/older-server.test.ts runs it.
const commit = spawnSync("git", ["rev-parse", "HEAD"], { encoding: "utf8" }).stdout.trim();
writeFileSync(path, gzipSync(JSON.stringify({ version: manifest.version, commit, statements }), { level: 9 }));
console.log(`${statements.length} statements of ${manifest.version}`);
