/**
 * Writes sites/demo/files.js: the demo's files as literal imports, which building the binary requires. It is not
 * TypeScript, which would treat the apps' sources as modules of ours.
 *
 *     bun scripts/demo-files.ts
 */
import { join, resolve } from "node:path";

const demo = resolve(import.meta.dir, "../sites/demo");
export const demoIndex = join(demo, "files.js");

export async function demoIndexText(): Promise<string> {
  const site = index("site", "siteFiles", "**/*.{yaml,liquid}");
  const apps = index("apps", "appFiles", "*/app.*");
  return `// Made by scripts/demo-files.ts; tests/demo.test.ts says when it is stale.
/* oxlint-disable import/default -- the apps' sources are texts here */
${[...site.imports, ...apps.imports].join("\n")}

/** Text by path: the folder of \`corestead site push\`. */
${site.map}
/** Text by path: each app's app.json and its source. */
${apps.map}`;
}

function index(folder: string, name: string, pattern: string) {
  const files = [...new Bun.Glob(pattern).scanSync(join(demo, folder))].toSorted();
  const entries = files.map((file, at) => `  [${JSON.stringify(file)}, ${folder}${at}],`);
  return {
    imports: files.map((file, at) => `import ${folder}${at} from "./${folder}/${file}" with { type: "text" };`),
    map: `export const ${name} = new Map([\n${entries.join("\n")}\n]);\n`,
  };
}

if (import.meta.main) await Bun.write(demoIndex, await demoIndexText());
