import { describe, expect, test } from "bun:test";
import { dirname, join, relative, resolve } from "node:path";

const root = resolve(import.meta.dir, "..");
const transpiler = new Bun.Transpiler({ loader: "ts" });

interface Source {
  readonly path: string;
  readonly text: string;
  readonly imports: readonly string[];
}

/** Every module of ours that ships, with what it imports; paths are relative to the repository. */
const sources: Source[] = [];
for await (const path of new Bun.Glob("{runtime,plugins,sites}/**/*.ts").scan(root)) {
  if (/\.(test|d)\.ts$/.test(path)) continue;
  const text = await Bun.file(join(root, path)).text();
  // scanImports leaves out type imports: an import of a type is a dependency just as well.
  const typeImports = [...text.matchAll(/\bfrom "([^"]+)"|\bimport\("([^"]+)"\)/g)].map(([, a, b]) => a ?? b ?? "");
  const imports = [...new Set([...transpiler.scanImports(text).map((entry) => entry.path), ...typeImports])];
  sources.push({ path, text, imports: imports.map((name) => resolved(path, name)) });
}

function resolved(from: string, name: string): string {
  return name.startsWith(".") ? relative(root, join(root, dirname(from), name)) : name;
}

function violations(folder: string, isWrong: (source: Source) => string | undefined): string[] {
  const members = sources.filter(({ path }) => path.startsWith(`${folder}/`));
  return members.flatMap((source) => {
    const wrong = isWrong(source);
    return wrong === undefined ? [] : [`${source.path}: ${wrong}`];
  });
}

describe("imports go one way", () => {
  test("there are sources to look at", () => {
    expect(sources.filter(({ path }) => path.startsWith("runtime/")).length).toBeGreaterThan(20);
  });

  test("the runtime imports nothing of ours, but main.ts lists the plugins", () => {
    const wrong = violations("runtime", ({ path, imports }) =>
      imports.find((name) => /^(plugins|sites)\//.test(name) && path !== "runtime/main.ts"),
    );
    expect(wrong).toEqual([]);
  });

  test("a plugin imports platform, its own files and other plugins' api.ts", () => {
    const wrong = violations("plugins", ({ path, imports }) => {
      const own = path.split("/").slice(0, 2).join("/");
      if (path === "plugins/index.ts") return undefined;
      return imports.find(
        (name) =>
          name.startsWith("runtime/") ||
          name.startsWith("sites/") ||
          (name.startsWith("plugins/") && !name.startsWith(`${own}/`) && !/^plugins\/[^/]+\/api\.ts$/.test(name)),
      );
    });
    expect(wrong).toEqual([]);
  });
});

describe("a plugin", () => {
  test("uses web standards only, so that it would run elsewhere too", () => {
    const wrong = violations("plugins", ({ text, imports }) => {
      const builtin = imports.find((name) => /^(bun|node)(:|$)/.test(name));
      return builtin ?? /\bBun\.\w+/.exec(text)?.[0];
    });
    expect(wrong).toEqual([]);
  });

  test("has its SQL in store files alone", () => {
    const wrong = violations("plugins", ({ path, text }) =>
      /store\.ts$/.test(path) ? undefined : /\b(?:sql|tx)(?:<[^`]*>)?`/.exec(text)?.[0],
    );
    expect(wrong).toEqual([]);
  });

  test("has its HTTP in route files alone", () => {
    const wrong = violations("plugins", ({ path, text }) =>
      /routes\.ts$/.test(path) ? undefined : /\broute\(\s*"(?:GET|POST|PATCH|PUT|DELETE)"/.exec(text)?.[0],
    );
    expect(wrong).toEqual([]);
  });

  test("has a declaration, a README and a test", async () => {
    const folders = new Set(sources.flatMap(({ path }) => /^plugins\/[^/]+(?=\/)/.exec(path)?.[0] ?? []));
    const missing: string[] = [];
    for (const folder of folders) {
      for (const file of ["plugin.ts", "README.md"]) {
        if (!(await Bun.file(join(root, folder, file)).exists())) missing.push(`${folder}/${file}`);
      }
      const tests = [...new Bun.Glob(`${folder}/**/*.test.ts`).scanSync(root)];
      if (tests.length === 0) missing.push(`${folder}/*.test.ts`);
    }
    expect(missing).toEqual([]);
  });
});
