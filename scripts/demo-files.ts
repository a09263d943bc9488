/**
 * Writes sites/demo/files.ts: the demo site's files as literal imports, which the compiler of the binary needs.
 *
 *     bun scripts/demo-files.ts
 */
import { join, resolve } from "node:path";

const root = resolve(import.meta.dir, "..");
export const demoIndex = join(root, "sites/demo/files.ts");

export async function demoIndexText(): Promise<string> {
  const glob = new Bun.Glob("**/*.{yaml,liquid}");
  const files = [...glob.scanSync(join(root, "sites/demo/site"))].toSorted();
  const imports = files.map((file, at) => `import file${at} from "./site/${file}" with { type: "text" };`);
  const entries = files.map((file, at) => `  [${JSON.stringify(file)}, file${at}],`);
  return `// Made by scripts/demo-files.ts; tests/demo-files.test.ts says when it is stale.
${imports.join("\n")}

/** Text by path: the folder of \`corestead site push\`. */
export const siteFiles: ReadonlyMap<string, string> = new Map<string, string>([
${entries.join("\n")}
]);
`;
}

if (import.meta.main) await Bun.write(demoIndex, await demoIndexText());
