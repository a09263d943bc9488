/** The test files that need neither Bun nor a server: what Deno can run by `run.ts`. */
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

const needsBun = /\bBun\.|"bun"|import\.meta\.dir\b|"platform\/test"|\bsetSystemTime\b|\bspyOn\b/;
const imported = /(?:from|import) "(\.[^"]{1,200})"/g;
const left = new Set([
  // Its subject is the words of Bun's loader.
  "runtime/plugin/external.test.ts",
  // These need seconds each, of passwords or of random templates, and nothing in them depends on what runs them but
  // Argon2, which deno.test.ts tries.
  "runtime/base/password.test.ts",
  "runtime/liquid/liquid-hostile.test.ts",
  "runtime/liquid/liquid-alike.test.ts",
  "plugins/prompts/token-flow.test.ts",
]);

export function pureTests(root: string): string[] {
  const known = new Map<string, boolean>();
  const isPure = (file: string): boolean => {
    const before = known.get(file);
    if (before !== undefined) return before;
    // So that files that import one another end.
    known.set(file, true);
    const text = existsSync(join(root, file)) ? readFileSync(join(root, file), "utf8") : "";
    const parts = [...text.matchAll(imported)].map(([, part = ""]) => join(dirname(file), part));
    const pure = !needsBun.test(text) && parts.filter((part) => part.endsWith(".ts")).every(isPure);
    known.set(file, pure);
    return pure;
  };
  const files = globSync("{plugins,runtime}/**/*.test.ts", { cwd: root });
  return files.filter((file) => !left.has(file) && isPure(file)).toSorted();
}
