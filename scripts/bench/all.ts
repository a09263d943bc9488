/**
 * Runs every benchmark in turn: `bun run bench [--quick] [--write]`. Each is a separate process with a time limit; the
 * limits add up to half an hour. `--quick` takes about seven minutes. `--compare <commit>` compares records with that
 * commit instead (against.ts).
 */
import { resolve } from "node:path";

const options = process.argv.slice(2);
const quick = options.includes("--quick");
/** Each benchmark and its limit in seconds. `million` and `jobs` have no worthwhile short form. */
const all = {
  start: 90,
  prompts: 60,
  sites: 150,
  liquid: 60,
  records: 800,
  plans: 90,
  million: 300,
  transfer: 300,
  jobs: 180,
  apps: 240,
  flows: 150,
  mcp: 180,
  webhooks: 180,
  https: 60,
  media: 180,
  logs: 420,
  studio: 240,
};
const chosen = options.some((option) => option.startsWith("--compare"))
  ? [["against", 900] as const]
  : Object.entries(all).filter(([name]) => !quick || (name !== "million" && name !== "jobs"));
const root = resolve(import.meta.dir, "../..");

for (const [name, longestSeconds] of chosen) {
  process.stdout.write(`\n## ${name}\n`);
  const began = performance.now();
  const child = Bun.spawn([process.execPath, `scripts/bench/${name}.ts`, ...options], {
    cwd: root,
    stdout: "inherit",
    stderr: "inherit",
    timeout: longestSeconds * 1000,
  });
  const status = await child.exited;
  process.stdout.write(`${name}: ${Math.round((performance.now() - began) / 1000)} s\n`);
  if (status === 0) continue;
  process.stderr.write(`${name} failed or took too long\n`);
  process.exitCode = 1;
}
