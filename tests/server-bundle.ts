/**
 * Bundles the server for a run of the tests: from source it reads 1,500 modules at each of hundreds of starts, 0.25 s of
 * a processor more each time than from a bundle.
 *
 *     TEST_SERVER=$(bun tests/server-bundle.ts dist/FOLDER) bun test …     server-process.ts starts this one
 */
import { dirname, join, relative, resolve } from "node:path";

const root = resolve(import.meta.dir, "..");

if (import.meta.main) process.stdout.write(`${await bundleServer(resolve(process.argv[2] ?? "dist/server"))}\n`);

/** Returns the path of its program. The folder must be in the repository: packages with parts of their own are not bundled. */
async function bundleServer(folder: string): Promise<string> {
  const result = await Bun.build({
    entrypoints: [join(root, "plugins/main.ts")],
    outdir: folder,
    naming: { entry: "plugins/main.ts" },
    tsconfig: join(root, "tsconfig.json"),
    target: "bun",
    splitting: true,
    external: ["esbuild"],
    // Does not minify identifiers: Elysia reads the text of functions.
    minify: { whitespace: true, syntax: true, identifiers: false },
    plugins: [
      {
        name: "places",
        setup(build) {
          build.onLoad({ filter: /\/(plugins|runtime|sites)\/.*\.ts$/ }, withPlaces(folder));
        },
      },
    ],
  });
  if (!result.success) throw new AggregateError(result.logs, "the server could not be bundled");
  return join(folder, "plugins/main.ts");
}

/** Modules find files beside them as from source, but the program that starts itself again is the bundle. */
function withPlaces(folder: string) {
  const itself = join(root, "runtime/system/own-program.ts");
  return async ({ path }: { readonly path: string }) => {
    const place = path === itself ? join(folder, relative(root, path)) : path;
    const contents = (await Bun.file(path).text())
      .replaceAll(/(?<!")import\.meta\.dir(name)?\b/g, JSON.stringify(dirname(place)))
      .replaceAll(/(?<!")import\.meta\.url\b/g, JSON.stringify(Bun.pathToFileURL(place).href));
    return { contents, loader: "ts" as const };
  };
}
