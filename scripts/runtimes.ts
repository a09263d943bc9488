/**
 * Bundles the browser imports of apps into dist/runtimes, once per version: the frameworks, the SDK of apps and
 * Tailwind's compiler (architecture 5).
 *
 *     bun scripts/runtimes.ts           if something has changed
 *     bun scripts/runtimes.ts --force   always
 */
import { build, type BuildOptions } from "esbuild";
import { readdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { writeWebFiles } from "./web-files.ts";

const root = resolve(import.meta.dir, "..");
const folder = join(root, "dist/runtimes");
const client = join(root, "plugins/apps/client");
const packages = ["svelte", "vue", "@vue/compiler-sfc", "react", "react-dom", "kaplay", "phaser", "esbuild"].concat(
  "tailwindcss",
  "@tailwindcss/browser",
);

/** The manifest, which plugins/apps/build/runtimes.ts reads. */
interface Manifest {
  /** Hash of all inputs; a different one makes the folder stale. */
  readonly key: string;
  /** Hash of the compilers and their imports: other compilers give other results. */
  readonly toolchain: string;
  /** Hash of all outputs; part of the addresses. */
  readonly hash: string;
  /** File name -> its direct and indirect imports. */
  readonly files: Readonly<Record<string, readonly string[]>>;
  /** Specifier -> file name. */
  readonly specifiers: Readonly<Record<string, string>>;
  /** The same for development builds, which explain mistakes: for previews. */
  readonly development: Readonly<Record<string, string>>;
  /** The folders of the packages with anything in a file, e.g. `node_modules/svelte`. */
  readonly packages: readonly string[];
}

interface Bundle {
  /** File name without its ending -> source of the entry. */
  readonly entries: Readonly<Record<string, string>>;
  /** Specifier -> entry. */
  readonly specifiers: Readonly<Record<string, string>>;
  readonly isDevelopment?: true;
}

// One file may serve several specifiers, so that a counter in Svelte needs two requests instead of ten.
const svelteCore = ["svelte", "svelte/internal/client", "svelte/internal/disclose-version"];
const svelteMore = ["animate", "attachments", "easing", "events", "legacy", "motion", "reactivity", "reactivity/window"]
  .concat("store", "transition")
  .map((name) => `svelte/${name}`);
// Importing these has a side effect.
const svelteFlags = ["svelte/internal/flags/legacy", "svelte/internal/flags/async"];

const common = {
  bundle: true,
  write: false,
  minify: true,
  platform: "browser",
  target: "es2022",
  conditions: ["browser", "production"],
  define: {
    "process.env.NODE_ENV": '"production"',
    __VUE_OPTIONS_API__: "true",
    __VUE_PROD_DEVTOOLS__: "false",
    __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: "false",
  },
  absWorkingDir: root,
  outdir: "/out",
  metafile: true,
  // NOTICE has their licences.
  legalComments: "none",
  // Otherwise an export of two modules would be omitted silently.
  logOverride: { "ambiguous-reexport": "error" },
} as const satisfies BuildOptions;

if (import.meta.main) {
  const made = await makeRuntimes(process.argv.includes("--force"));
  if (made) process.stdout.write(`dist/runtimes  ${made.hash}, ${Object.keys(made.files).length} files\n`);
}

/** Returns the manifest, or undefined if the folder is up to date. */
export async function makeRuntimes(force = false): Promise<Manifest | undefined> {
  const toolchain = await toolchainKey();
  const key = await inputKey(toolchain);
  const standing: Partial<Manifest> = await Bun.file(join(folder, "manifest.json"))
    .json()
    .catch(() => ({}));
  if (!force && standing.key === key) return undefined;

  const bundles = [svelte(), vue(), await react(), kaplay(), phaser()];
  const forPreviews = [vue(), await react()].map(inDevelopment);
  const outputs = await Promise.all([...bundles, ...forPreviews].map(bundleOf).concat(sdk(), tailwind()));
  const files = new Map(outputs.flatMap((output) => [...output.files]));
  const hash = new Bun.CryptoHasher("sha256");
  for (const [name, { code }] of [...files].toSorted(([a], [b]) => (a < b ? -1 : 1))) hash.update(`${name}\n${code}`);
  const manifest = {
    key,
    toolchain,
    hash: hash.digest("hex").slice(0, 16),
    files: Object.fromEntries([...files].map(([name, { imports }]) => [name, imports])),
    specifiers: fileNames(bundles),
    development: fileNames(forPreviews),
    packages: packageFolders(outputs.flatMap(({ inputs }) => inputs)),
  };
  await writeWebFiles(folder, new Map([...files].map(([name, { code }]) => [name, code])), manifest);
  return manifest;
}

function fileNames(bundles: readonly Bundle[]): Record<string, string> {
  return Object.fromEntries(
    bundles.flatMap(({ specifiers }) => Object.entries(specifiers).map(([name, entry]) => [name, `${entry}.js`])),
  );
}

/** Under other names, with the checks and messages that a finished app does without. */
function inDevelopment({ entries, specifiers }: Bundle): Bundle {
  return {
    entries: Object.fromEntries(Object.entries(entries).map(([name, source]) => [`${name}-dev`, source])),
    specifiers: Object.fromEntries(Object.entries(specifiers).map(([name, entry]) => [name, `${entry}-dev`])),
    isDevelopment: true,
  };
}

function svelte(): Bundle {
  const flags = Object.fromEntries(svelteFlags.map((name) => [fileName(name), `import ${JSON.stringify(name)};`]));
  return {
    entries: { svelte: all(svelteCore), "svelte-more": all(svelteMore), ...flags },
    specifiers: {
      ...Object.fromEntries(svelteCore.map((name) => [name, "svelte"])),
      ...Object.fromEntries(svelteMore.map((name) => [name, "svelte-more"])),
      ...Object.fromEntries(svelteFlags.map((name) => [name, fileName(name)])),
    },
  };
}

function vue(): Bundle {
  return { entries: { vue: all(["vue"]) }, specifiers: { vue: "vue" } };
}

/** React's packages are CommonJS: their names must be listed, and each has a default export. */
async function react(): Promise<Bundle> {
  process.env["NODE_ENV"] = "production"; // its exports differ in development
  const named = async (specifier: string, not: readonly string[] = []) => {
    const names = Object.keys(await import(specifier)).filter((name) => name !== "default" && !not.includes(name));
    return { names, line: `export { ${names.join(", ")} } from ${JSON.stringify(specifier)};\n` };
  };
  const main = await named("react");
  const jsx = await named("react/jsx-runtime", main.names);
  const dom = await named("react-dom");
  const domClient = await named("react-dom/client", dom.names);
  const both = `import dom from "react-dom"; import client from "react-dom/client"; export default { ...dom, ...client };`;
  return {
    entries: {
      react: `${main.line}${jsx.line}export { default } from "react";`,
      "react-dom": `${dom.line}${domClient.line}${both}`,
    },
    specifiers: {
      react: "react",
      "react/jsx-runtime": "react",
      "react-dom": "react-dom",
      "react-dom/client": "react-dom",
    },
  };
}

/** The maintained successor of kaboom, under both names, as imports and as globals (behaviour B.10). */
function kaplay(): Bundle {
  const entry = `import kaplay from "kaplay"; export * from "kaplay"; export default kaplay; export { kaplay as kaboom };
    globalThis.kaplay = globalThis.kaboom = kaplay;`;
  return { entries: { kaplay: entry }, specifiers: { kaplay: "kaplay", kaboom: "kaplay" } };
}

function phaser(): Bundle {
  const entry = `import * as Phaser from "phaser"; export * from "phaser"; export default Phaser;
    import { speakPhaser3 } from "./plugins/apps/client/phaser3.ts"; speakPhaser3(Phaser);
    globalThis.Phaser = Phaser;`;
  return { entries: { phaser: entry }, specifiers: { phaser: "phaser" } };
}

function all(specifiers: readonly string[]): string {
  return specifiers.map((name) => `export * from ${JSON.stringify(name)};`).join("\n");
}

function fileName(specifier: string): string {
  return specifier.replace("internal/", "").replaceAll("/", "-");
}

type Files = Map<string, { readonly code: string; readonly imports: readonly string[] }>;

interface Output {
  readonly files: Files;
  /** The paths of the sources. */
  readonly inputs: readonly string[];
}

async function bundleOf({ entries, isDevelopment }: Bundle): Promise<Output> {
  const [first = ""] = Object.keys(entries);
  const result = await build({
    ...common,
    ...(isDevelopment && {
      conditions: ["browser", "development"],
      define: { ...common.define, "process.env.NODE_ENV": '"development"' },
    }),
    format: "esm",
    splitting: true,
    chunkNames: `${first}-[hash]`,
    entryPoints: Object.keys(entries).map((name) => ({ in: `entry:${name}`, out: name })),
    plugins: [
      {
        name: "entries",
        setup(builder) {
          builder.onResolve({ filter: /^entry:/ }, ({ path }) => ({ path: path.slice(6), namespace: "entry" }));
          builder.onLoad({ filter: /.*/, namespace: "entry" }, ({ path }) => ({
            contents: entries[path] ?? "",
            resolveDir: root,
          }));
        },
      },
    ],
  });
  const importsOf = new Map(
    Object.entries(result.metafile.outputs).map(([path, output]) => [
      baseName(path),
      output.imports.map((one) => baseName(one.path)),
    ]),
  );
  const files = result.outputFiles.map(({ path, text }) => {
    const name = baseName(path);
    return [name, { code: text, imports: reachable(name, importsOf) }] as const;
  });
  return { files: new Map(files), inputs: Object.keys(result.metafile.inputs) };
}

function reachable(from: string, importsOf: ReadonlyMap<string, readonly string[]>): string[] {
  const found = new Set<string>();
  const visit = (name: string) => {
    for (const next of importsOf.get(name) ?? []) {
      if (found.has(next)) continue;
      found.add(next);
      visit(next);
    }
  };
  visit(from);
  return [...found].toSorted();
}

/**
 * The SDK that every page loads before its app, the error panel for people who may edit it, and what runs in the page
 * around a private app. All are classic scripts, so that they run before any others.
 */
async function sdk(): Promise<Output> {
  const entryPoints = [
    { in: join(client, "main.ts"), out: "core" },
    { in: join(client, "panel.ts"), out: "panel" },
    { in: join(client, "frame.ts"), out: "frame" },
  ];
  const { outputFiles } = await build({ ...common, format: "iife", entryPoints });
  const files = outputFiles.map(({ path, text }) => [baseName(path), { code: text, imports: [] }] as const);
  return { files: new Map(files), inputs: [] };
}

async function tailwind(): Promise<Output> {
  const path = Bun.resolveSync("@tailwindcss/browser", root);
  const files = new Map([["tailwind.js", { code: await Bun.file(path).text(), imports: [] }]]);
  return { files, inputs: [path] };
}

function packageFolders(paths: readonly string[]): string[] {
  const inPackage = /node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+/;
  return [...new Set(paths.flatMap((path) => inPackage.exec(path)?.[0] ?? []))].toSorted();
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** Everything that can change compiled code: the compilers, and the packages with their versions. */
async function toolchainKey(): Promise<string> {
  const { dependencies }: { dependencies: Record<string, string> } = await Bun.file(join(root, "package.json")).json();
  const versions = packages.map((name) => `${name} ${dependencies[name]}`);
  return (await hashOf("plugins/apps/compiler", versions.join("\n"))).slice(0, 16);
}

/** Everything that can change the files made here. */
async function inputKey(toolchain: string): Promise<string> {
  return hashOf("plugins/apps/client", toolchain + (await Bun.file(import.meta.path).text()));
}

/** Hash of a folder's sources and of something else. */
async function hashOf(path: string, further: string): Promise<string> {
  const names = (await readdir(join(root, path)).catch(() => [])).filter((name) => /^(?!.*\.test\.).*\.ts$/.test(name));
  const hash = new Bun.CryptoHasher("sha256").update(further);
  for (const name of names.toSorted())
    hash.update(`\n${name}\n`).update(await Bun.file(join(root, path, name)).bytes());
  return hash.digest("hex");
}
