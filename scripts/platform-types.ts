/**
 * Writes runtime/platform-types.txt, the text of `corestead types`: the exports of "platform", for plugin authors who
 * have only the binary, and from it docs/platform.md. It is self-contained: it includes the types of TypeBox and postgres.js that we use.
 *
 *     bun scripts/platform-types.ts
 *
 * tsc prints the declarations of runtime/sdk.ts and everything that it imports. Each file becomes one `declare module
 * "platform/…" { … }` with only the declarations that runtime/sdk.ts leads to.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative, resolve } from "node:path";
import { parseDeclarations, type Declarations } from "./declarations.ts";
import { platformPage } from "./platform-docs.ts";

const root = resolve(import.meta.dir, "..");
const testApp = "runtime/operations/authors/test-app.ts";
/** For the pages of plugins, which run in browsers. */
const studioPage = "sites/studio/app/author.ts";
const typebox = join(root, "node_modules/@sinclair/typebox/build/esm");
const postgres = join(root, "node_modules/postgres/types/index.d.ts");
/** Not worth its ten thousand lines: plugins use LiquidJS through `ctx.liquid`. */
const liquidjs = join(root, "node_modules/liquidjs/dist/index.d.ts");
const liquidjsInShort = `
export type Context = object;
export type Tag = object;
export type Template = object;
export declare class Liquid {
  readonly tags: Record<string, new (...args: never[]) => object>;
}
`;
/** The modules that a plugin imports: "platform", "platform/test", "platform/studio" and the APIs of the built-in plugins. */
const entries = [
  "runtime/sdk.ts",
  testApp,
  studioPage,
  ...[...new Bun.Glob("plugins/**/api.ts").scanSync(root)].toSorted(),
];
const header = await Bun.file(join(import.meta.dir, "platform-types-header.txt")).text();

/** A declaration file to be included. */
interface Module {
  readonly name: string;
  readonly ours: boolean;
  readonly declarations: Declarations;
  /** The names that others need from it. */
  readonly needed: Set<string>;
}

if (import.meta.main) {
  const file = join(root, "runtime/platform-types.txt");
  const text = await generateTypes();
  await Bun.write(file, text);
  await Bun.write(join(root, "docs/platform.md"), platformPage(text));
  process.stdout.write(`wrote ${relative(process.cwd(), file)} (${(text.length / 1000).toFixed(0)} kB) and its page\n`);
}

/** The text for the present sources. */
export async function generateTypes(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "corestead-types-"));
  try {
    await emitDeclarations(folder);
    const modules = await collect(folder);
    const parts = [...modules.values()].toSorted(byName).map(print);
    return [header.trimEnd(), ...parts].join("\n\n") + "\n";
  } finally {
    await rm(folder, { recursive: true });
  }
}

function declarationOf(file: string): string {
  return file.replace(/\.ts$/, ".d.ts");
}

function byName(a: Module, b: Module): number {
  const key = ({ name, ours }: Module) => `${name === "platform" ? 0 : ours ? 1 : 2}${name}`;
  return key(a) < key(b) ? -1 : 1;
}

async function emitDeclarations(folder: string): Promise<void> {
  const config = {
    extends: join(root, "tsconfig.json"),
    files: [...entries.map((file) => join(root, file)), join(root, "runtime/sql-files.d.ts")],
    include: [],
    compilerOptions: {
      noEmit: false,
      declaration: true,
      emitDeclarationOnly: true,
      outDir: folder,
      rootDir: root,
      typeRoots: [join(root, "node_modules/@types")],
    },
  };
  await Bun.write(join(folder, "tsconfig.json"), JSON.stringify(config));
  const tsc = Bun.spawn([join(root, "node_modules/.bin/tsc"), "-p", folder], { stdout: "pipe", stderr: "inherit" });
  const output = await new Response(tsc.stdout).text();
  if ((await tsc.exited) !== 0) throw new Error(`tsc could not print the declarations:\n${output}`);
}

/** Every module that "platform" leads to. */
async function collect(folder: string): Promise<Map<string, Module>> {
  const modules = new Map<string, Module>();
  const waiting = entries.map((file): [file: string, name: string] => [join(folder, declarationOf(file)), "*"]);
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const [file, name] = next;
    const ours = file.startsWith(folder);
    const module = modules.get(file) ?? {
      name: moduleName(file, folder),
      ours,
      declarations: parseDeclarations(await textOf(file), ours),
      needed: new Set<string>(),
    };
    modules.set(file, module);
    // Other packages' files are kept whole: they are not laid out like tsc's.
    const wanted = ours ? name : "*";
    if (module.needed.has(wanted)) continue;
    module.needed.add(wanted);
    for (const found of module.declarations.follow(wanted)) {
      if (found.from === undefined) waiting.push([file, found.name]);
      else waiting.push([fileOf(found.from, file, folder), found.name]);
    }
  }
  for (const [file, module] of modules)
    module.declarations.rename((from) => moduleName(fileOf(from, file, folder), folder));
  return modules;
}

function fileOf(specifier: string, from: string, folder: string): string {
  if (specifier === "platform") return join(folder, "runtime/sdk.d.ts");
  if (specifier === "postgres") return postgres;
  if (specifier === "liquidjs") return liquidjs;
  if (specifier === "@sinclair/typebox") return join(typebox, "index.d.mts");
  if (specifier.startsWith(".")) return join(dirname(from), specifier.replace(/\.(m?)(?:ts|js)$/, ".d.$1ts"));
  throw new Error(
    `${relative(folder, from)} shows plugins a type of "${specifier}": teach scripts/platform-types.ts that package`,
  );
}

function moduleName(file: string, folder: string): string {
  if (file === postgres) return "platform/postgres";
  if (file === liquidjs) return "platform/liquidjs";
  if (file.startsWith(typebox))
    return join("platform/typebox", relative(typebox, file).replace(/(\/?index)?\.d\.mts$/, ""));
  const path = relative(folder, file);
  if (path === declarationOf(testApp)) return "platform/test";
  if (path === declarationOf(studioPage)) return "platform/studio";
  const ofPlugin = /^plugins\/(?:accounts\/(?=(?:sessions|factors|passwords)\/))?([^/]+)\/(.+)\.d\.ts$/.exec(path);
  if (ofPlugin) return `platform/${ofPlugin[1]}${ofPlugin[2] === "api" ? "" : `/${ofPlugin[2]}`}`;
  const name = basename(path, ".d.ts");
  return name === "sdk" ? "platform" : `platform/${name}`;
}

async function textOf(file: string): Promise<string> {
  if (file === liquidjs) return liquidjsInShort;
  const text = await Bun.file(file).text();
  return file === postgres ? withoutNode(text) : text;
}

/** postgres.js refers to Node's streams and buffers, whose types an author need not have. */
function withoutNode(text: string): string {
  const streams =
    "type Readable = AsyncIterable<Uint8Array>;\ntype Writable = { write(chunk: string | Uint8Array): boolean; end(): void };";
  return text
    .replace(/^import \{ Readable, Writable \} from 'node:stream'$/m, streams)
    .replaceAll(/\bBuffer\b/g, "Uint8Array")
    .replace(/^export = postgres;$/m, "export default postgres;");
}

function print({ name, declarations, needed }: Module): string {
  const body = declarations.print(needed).replaceAll(/^(?=.)/gm, "  ");
  return `declare module "${name}" {\n${body.trimEnd()}\n}`;
}
