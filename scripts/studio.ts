/**
 * Bundles the Studio (sites/studio/app, and the pages that plugins bring in plugins/<name>/studio) into dist/studio.
 *
 *     bun scripts/studio.ts           if something has changed
 *     bun scripts/studio.ts --force   always
 *
 * Fails if the first load or a page is larger than its budget.
 */
import { build, transform, type BuildResult, type Metafile, type Plugin } from "esbuild";
import { dirname, join, relative, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { compile, compileModule } from "svelte/compiler";
import manifest from "../package.json" with { type: "json" };
import type { StudioPage } from "../sites/studio/app/kit/page.ts";
import type { Manifest } from "../sites/studio/files.ts";
import { joined, type Scripts } from "./studio-chunks.ts";
import { pathOfSvg } from "./svg-path.ts";
import { writeWebFiles } from "./web-files.ts";

const root = resolve(import.meta.dir, "..");
const app = join(root, "sites/studio/app");
const folder = join(root, "dist/studio");

/** Bytes after gzip. The first scripts are everything that loads between the sign-in and a list. */
const budget = {
  firstScripts: 90_000,
  style: 14_000,
  pageStyle: 20_000,
  page: 40_000,
  editor: 220_000,
  fonts: 46_000,
};

/** Of a joined file, before it is compressed to a third. */
const mostChars = 100_000;

/** Catalogues of what is shown first: of other languages than English they come with the language's own file. */
const firstWords = ["sites/studio/app/frame/text", "plugins/jsondb/studio/text", "plugins/jsondb/studio/record/text"];

/** The style of every page, in this order. */
const styleFiles = ["tokens", "base", "parts"] as const;
const fontPackage = "node_modules/@fontsource-variable/geist";
/** What the style calls the fonts of Geist. */
const fontFiles = {
  "GEIST-LATIN-EXT": "geist-latin-ext-wght-normal",
  "GEIST-LATIN": "geist-latin-wght-normal",
} as const;

/** Read by sites/studio/files.ts. */
interface Made extends Manifest {
  /** A hash of every input: with another one the folder is stale. */
  readonly key: string;
  /** Folders of the npm packages in them, for NOTICE. */
  readonly packages: readonly string[];
}

if (import.meta.main) {
  const made = await makeStudio(process.argv.includes("--force"));
  if (made) process.stdout.write(`dist/studio  ${Object.keys(made.files).length} files, ${made.report}\n`);
}

/** Answers with undefined if the folder is up to date. Throws what does not compile, and what is too large. */
export async function makeStudio(force = false): Promise<(Made & { report: string }) | undefined> {
  const key = await inputKey();
  const standing: Partial<Made> = await Bun.file(join(folder, "manifest.json"))
    .json()
    .catch(() => ({}));
  if (!force && standing.key === key) return undefined;

  const styles = new Map<string, string>();
  const [result, fonts] = await Promise.all([bundle(styles), readFonts()]);
  const [style, ...pageStyles] = await styleSheets(styles, fonts, tableInputs(result.metafile));
  const scripts = await joinedScripts(result);
  const { metafile } = scripts;
  const files = new Map<string, string | Uint8Array>(scripts.files);
  for (const { name, bytes } of Object.values(fonts)) files.set(name, bytes);
  const mark = await Bun.file(join(app, "mark.svg")).text();
  const markName = `mark-${hashOf(mark).slice(0, 8)}.svg`;
  files.set(markName, mark);
  const styleName = `studio-${hashOf(style).slice(0, 8)}.css`;
  const [tableStyle, otherStyle] = pageStyles.map((css) => {
    const name = `pages-${hashOf(css).slice(0, 8)}.css`;
    files.set(name, css);
    return name;
  });
  files.set(styleName, style);
  const script = entryOf(metafile);
  const preloads = importedAtOnce(metafile, script);
  const first = [script, ...preloads];
  const list = genericFiles(metafile, first, "List");
  const report = checkSizes({
    files,
    first,
    list,
    style: styleName,
    pageStyle: pageStyles.join("\n"),
    metafile,
  });
  const made = {
    key,
    script,
    preloads,
    style: styleName,
    mark: markName,
    pageStyles: [tableStyle ?? "", otherStyle ?? ""] as const,
    words: { pl: outputOf(metafile, "app/text/pl.json"), de: outputOf(metafile, "app/text/de.json") },
    pages: await pageFiles(metafile, first),
    home: genericFiles(metafile, first, "Home"),
    generic: [...new Set([...list, ...genericFiles(metafile, first, "Item")])],
    files: Object.fromEntries([...files].map(([name, text]) => [name, hashOf(text).slice(0, 16)])),
    packages: [...packagesOf(metafile), fontPackage].toSorted(),
  };
  await writeWebFiles(folder, files, made);
  return { ...made, report };
}

/**
 * The files of the first load are one, and so are those of the first page, of a list and of a form. What a table shares with
 * them is in the first, and what it shares with other pages alone is in its own.
 */
async function joinedScripts(result: Bundled): Promise<Scripts> {
  const files = new Map(result.outputFiles.map(({ path, text }) => [baseName(path), text]));
  const { metafile } = result;
  const script = entryOf(metafile);
  const first = [...importedAtOnce(metafile, script), script];
  const list = genericFiles(metafile, first, "List");
  const item = genericFiles(metafile, first, "Item");
  const home = genericFiles(metafile, first, "Home");
  const records = outputOf(metafile, "records/Records.svelte");
  const table = importedAtOnce(metafile, records).filter((name) => !first.includes(name));
  const generic = new Set([...list, ...item]);
  const isWords = (name: string) => "words:studio:words" in (outputIn(metafile, name)?.inputs ?? {});
  const shared = [...table, ...home].filter((name) => generic.has(name) || isWords(name));
  const core = new Set([...first.slice(0, -1), ...shared, script]);
  const groups = new Map<string, string[]>([
    ["core", [...core]],
    ["home", home.filter((name) => !core.has(name))],
    ...inParts("table", [...table.filter((name) => !core.has(name)), records], files),
    ["list", list.filter((name) => !core.has(name))],
    ["item", item.filter((name) => !core.has(name) && !list.includes(name))],
  ]);
  for (const [group, names] of groups) {
    const inputs = names.flatMap((name) => Object.entries(outputIn(metafile, name)?.inputs ?? {}));
    const foreign = inputs.find(
      ([path, { bytesInOutput }]) => /text\/(?:pl|de)\.json$/.test(path) && bytesInOutput > 99,
    );
    if (foreign && group !== "list" && group !== "item")
      throw new Error(`${foreign[0]} is no one of \`firstWords\`, but is shown first`);
  }
  return joined({ files, metafile }, groups, hashOf([...files.values()].join("\n")).slice(0, 8));
}

/** A page of a table needs more than one file may have. */
function inParts(group: string, names: readonly string[], files: ReadonlyMap<string, string>): [string, string[]][] {
  const parts: [string, string[]][] = [];
  let chars = 0;
  for (const name of names) {
    const { length } = files.get(name) ?? "";
    if (parts.length === 0 || chars + length > mostChars) {
      parts.push([`${group}${parts.length + 1}`, []]);
      chars = 0;
    }
    chars += length;
    parts.at(-1)?.[1].push(name);
  }
  return parts;
}

type Bundled = BuildResult<{ write: false; metafile: true }>;

async function bundle(styles: Map<string, string>): Promise<Bundled> {
  const parts = await partsOfKit();
  return build({
    entryPoints: [{ in: join(app, "main.ts"), out: "main" }],
    bundle: true,
    write: false,
    minify: true,
    splitting: true,
    format: "esm",
    platform: "browser",
    target: "es2022",
    conditions: ["browser", "production", "svelte"],
    define: { "process.env.NODE_ENV": '"production"' },
    absWorkingDir: root,
    outdir: "/out",
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    metafile: true,
    // Their licences are in NOTICE.
    legalComments: "none",
    alias: {
      "studio/exact": join(app, "server/exact.ts"),
      "studio/page": join(app, "kit/page.ts"),
      "studio/when": join(app, "when.ts"),
      studio: join(app, "kit/index.ts"),
    },
    plugins: [svelte(styles, parts), pictures(), words(), ofPlugins()],
  });
}

/** Compiles components, and modules with runes (`*.svelte.ts`); the styles of components are collected. */
function svelte(styles: Map<string, string>, parts: KitParts): Plugin {
  const options = { generate: "client", dev: false, discloseVersion: false } as const;
  return {
    name: "svelte",
    setup(builder) {
      // No component is a custom element, and what makes them would be a kilobyte of the first load.
      builder.onLoad({ filter: /svelte.src.internal.client.dom.elements.custom-element\.js$/ }, () => ({
        contents: "export const create_custom_element = undefined;",
      }));
      builder.onLoad({ filter: /\.svelte$/ }, async ({ path }) => {
        const { js, css, warnings } = compile(await Bun.file(path).text(), {
          ...options,
          filename: relative(root, path),
          css: "external",
          // Shorter than Svelte's own: the class stands in every rule.
          cssHash: ({ hash, filename: name }) => `s${hash(name).slice(0, 5)}`,
          runes: true,
          modernAst: true,
        });
        const [warning] = warnings;
        if (warning) throw new Error(`${relative(root, path)}:${warning.start?.line ?? 1} ${warning.message}`);
        if (css) styles.set(path, css.code);
        return { contents: direct(js.code, parts), loader: "js" };
      });
      builder.onLoad({ filter: /\.svelte\.ts$/ }, async ({ path }) => {
        const { code } = await transform(await Bun.file(path).text(), {
          loader: "ts",
          target: "esnext",
          tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
        });
        const { js } = compileModule(code, { ...options, filename: relative(root, path) });
        return { contents: direct(js.code, parts), loader: "js" };
      });
      builder.onLoad({ filter: /\/studio\/.*\.ts$/ }, async ({ path }) => ({
        contents: direct(await Bun.file(path).text(), parts),
        loader: "ts",
      }));
    },
  };
}

/**
 * Imports from the kit as imports from its modules. esbuild gives each page all that an index names, so that a page would
 * load every part of the kit that any page uses.
 */
function direct(code: string, parts: KitParts): string {
  return code.replaceAll(/import\s*\{([^}]*)\}\s*from\s*"studio";?/g, (_, list: string) =>
    list
      .split(",")
      .map((one) => one.trim())
      .filter((one) => one !== "" && !one.startsWith("type "))
      .map((one) => {
        const [name = "", as = name] = one.split(" as ");
        const found = parts.get(name);
        if (!found) throw new Error(`the kit has no ${name}`);
        return `import { ${found.name} as ${as} } from "${found.path}";`;
      })
      .join(" "),
  );
}

type KitParts = ReadonlyMap<string, { readonly name: string; readonly path: string }>;

/** What kit/index.ts exports, and where it is. */
async function partsOfKit(): Promise<KitParts> {
  const index = await Bun.file(join(app, "kit/index.ts")).text();
  const parts = [...index.matchAll(/export \{([^}]*)\} from "([^"]+)";/g)].flatMap(([, list = "", from = ""]) =>
    list.split(",").flatMap((one) => {
      const [name = "", as = name] = one.trim().split(" as ");
      return name === "" || name.startsWith("type ") ? [] : [[as, { name, path: join(app, "kit", from) }] as const];
    }),
  );
  return new Map(parts);
}
/** An SVG file is its strokes, as text, and app/icons.json those of each of its pictures. */
function pictures(): Plugin {
  const strokes = async (path: string) => pathOfSvg(await Bun.file(path).text());
  return {
    name: "pictures",
    setup(builder) {
      builder.onLoad({ filter: /\.svg$/ }, async ({ path }) => ({ contents: await strokes(path), loader: "text" }));
      builder.onLoad({ filter: /app\/icons\.json$/ }, async ({ path }) => {
        const names: Readonly<Record<string, string>> = await Bun.file(path).json();
        const paths = Object.entries(names).map(async ([name, of]) => {
          return [name, await strokes(Bun.resolveSync(`lucide-static/icons/${of}.svg`, root))];
        });
        return { contents: JSON.stringify(Object.fromEntries(await Promise.all(paths))), loader: "json" };
      });
    },
  };
}

/**
 * `studio:words`: an object for each of `firstWords` in each language, empty until the language's own file, which is loaded
 * before anything is shown in it, puts the messages into them.
 */
function words(): Plugin {
  return {
    name: "words",
    setup(builder) {
      const each = firstWords.map(() => "{}").join();
      const contents = `export const pl = [${each}]; export const de = [${each}];`;
      builder.onResolve({ filter: /^studio:words$/ }, ({ path }) => ({ path, namespace: "words" }));
      builder.onLoad({ filter: /.*/, namespace: "words" }, () => ({ contents }));
      builder.onLoad({ filter: /\/text\/(?:pl|de)\.json$/ }, async ({ path }) => {
        const language = path.slice(-7, -5);
        const at = firstWords.indexOf(relative(root, dirname(path)));
        const head = `import { ${language} as all } from "studio:words";`;
        if (at >= 0) return { contents: `${head} export default all[${at}];`, loader: "js" };
        if (dirname(path) !== join(app, "text")) return undefined;
        const files = firstWords.map((own) => Bun.file(join(root, own, `${language}.json`)).text());
        const fill = (await Promise.all(files)).map((text, one) => `Object.assign(all[${one}], ${text});`);
        return { contents: `${head}${fill.join("")}export default ${await Bun.file(path).text()};`, loader: "js" };
      });
    },
  };
}

/** `studio:pages` and `studio:examples`: what plugins/<plugin>/studio/pages.ts and examples.json have, in one. */
function ofPlugins(): Plugin {
  const found = async (name: string) =>
    (await Array.fromAsync(new Bun.Glob(`plugins/*/studio/${name}`).scan(root))).toSorted();
  return {
    name: "plugins",
    setup(builder) {
      builder.onResolve({ filter: /^studio:(?:pages|examples)$/ }, ({ path }) => ({ path, namespace: "plugins" }));
      builder.onLoad({ filter: /pages$/, namespace: "plugins" }, async () => {
        const files = await found("pages.ts");
        const imports = files.map((path, at) => `import { pages as one${at} } from ${JSON.stringify(`./${path}`)};`);
        const all = files.map((_, at) => `...one${at}`).join(", ");
        return { contents: `${imports.join("\n")}\nexport const pages = [${all}];`, resolveDir: root };
      });
      builder.onLoad({ filter: /examples$/, namespace: "plugins" }, async () => {
        const files = (await found("examples.json")).map((path) => Bun.file(join(root, path)).json());
        const all = JSON.stringify(Object.assign({}, ...(await Promise.all(files))));
        return { contents: `export const examples = ${all};` };
      });
    },
  };
}

/** The components and other sources of a table's first files. */
function tableInputs(metafile: Metafile): ReadonlySet<string> {
  const records = outputOf(metafile, "records/Records.svelte");
  const files = new Set([records, ...importedAtOnce(metafile, records)]);
  const outputs = Object.entries(metafile.outputs).filter(([path]) => files.has(baseName(path)));
  return new Set(outputs.flatMap(([, { inputs }]) => Object.keys(inputs)));
}

/** The styles of the first load, of a table and of plugins' other pages; the kit's own first, then components by name. */
async function styleSheets(
  styles: ReadonlyMap<string, string>,
  fonts: Fonts,
  ofTable: ReadonlySet<string>,
): Promise<[string, string, string]> {
  const parts = [...styles].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const minified = async (texts: readonly string[]) =>
    (await transform(texts.join("\n"), { loader: "css", minify: true, target: "es2022" })).code;
  const isOfFrame = ([path]: readonly [string, string]) => path.startsWith(app);
  const ofPages = (isOfTable: boolean) =>
    minified(
      parts.flatMap(([path, css]) =>
        isOfFrame([path, css]) || ofTable.has(relative(root, path)) !== isOfTable ? [] : [css],
      ),
    );
  const own = await Promise.all(styleFiles.map((name) => Bun.file(join(app, `styles/${name}.css`)).text()));
  const withFonts = own.map((text) =>
    Object.entries(fonts).reduce((css, [word, { name }]) => css.replaceAll(word, name), text),
  );
  return [
    await minified([...withFonts, ...parts.filter(isOfFrame).map(([, css]) => css)]),
    await ofPages(true),
    await ofPages(false),
  ];
}

type Fonts = Readonly<Record<keyof typeof fontFiles, { readonly name: string; readonly bytes: Uint8Array }>>;

async function readFonts(): Promise<Fonts> {
  const read = async (file: string) => {
    const path = join(root, fontPackage, `files/${file}.woff2`);
    const bytes = await Bun.file(path).bytes();
    return { name: `${file.replace("-wght-normal", "")}-${hashOf(bytes).slice(0, 8)}.woff2`, bytes };
  };
  const [latinExt, latin] = await Promise.all([read(fontFiles["GEIST-LATIN-EXT"]), read(fontFiles["GEIST-LATIN"])]);
  return { "GEIST-LATIN-EXT": latinExt, "GEIST-LATIN": latin };
}

function entryOf({ outputs }: Metafile): string {
  const [path = ""] = Object.entries(outputs).find(([, { entryPoint }]) => entryPoint?.endsWith("app/main.ts")) ?? [];
  return baseName(path);
}

function packagesOf({ inputs }: Metafile): string[] {
  const folders = Object.keys(inputs).flatMap((file) => /node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []);
  return [...new Set(folders)].toSorted();
}

/** What others import comes before them. */
function importedAtOnce({ outputs }: Metafile, script: string): string[] {
  const byName = new Map(Object.entries(outputs).map(([path, output]) => [baseName(path), output]));
  const found = new Set<string>();
  const seen = new Set([script]);
  const visit = (name: string): void => {
    for (const { path, kind } of byName.get(name)?.imports ?? []) {
      const next = baseName(path);
      if (kind !== "import-statement" || seen.has(next)) continue;
      seen.add(next);
      visit(next);
      found.add(next);
    }
  };
  visit(script);
  return [...found];
}

/** The files of each page of plugins/<name>/studio/pages.ts, without those that are loaded anyway. */
async function pageFiles(metafile: Metafile, loaded: readonly string[]): Promise<Manifest["pages"]> {
  const byEntry = new Map(
    Object.entries(metafile.outputs).map(([path, { entryPoint }]) => [entryPoint, baseName(path)]),
  );
  const found = (await Array.fromAsync(new Bun.Glob("plugins/*/studio/pages.ts").scan(root))).toSorted();
  const lists = found.map(async (file) => {
    const { pages }: { pages: readonly StudioPage[] } = await import(join(root, file));
    return pages.map(({ path, load, first, early }) => {
      const component = /import\(["'`](.+?)["'`]\)/.exec(String(load))?.[1];
      const name = component && byEntry.get(join(dirname(file), component));
      if (!name) throw new Error(`${file}: ${path} does not load a component`);
      const files = [name, ...importedAtOnce(metafile, name)].filter((one) => !loaded.includes(one));
      const params = Object.fromEntries([...path.matchAll(/:(\w+)/g)].map(([, own = ""]) => [own, `{${own}}`]));
      return { path, files, ...(first && { first: first(params, new URLSearchParams()) }), ...(early && { early }) };
    });
  });
  return (await Promise.all(lists)).flat();
}

/** Files that a generic page needs beyond the first load. */
function genericFiles(metafile: Metafile, loaded: readonly string[], page: "List" | "Item" | "Home"): string[] {
  const name = outputOf(metafile, `pages/${page}.svelte`);
  return [name, ...importedAtOnce(metafile, name)].filter((one) => !loaded.includes(one));
}

function outputIn({ outputs }: Metafile, name: string): Metafile["outputs"][string] | undefined {
  return Object.entries(outputs).find(([path]) => baseName(path) === name)?.[1];
}

/** The file that begins with this component. */
function outputOf({ outputs }: Metafile, component: string): string {
  const [path] = Object.entries(outputs).find(([, { entryPoint }]) => entryPoint?.endsWith(component)) ?? [];
  if (!path) throw new Error(`${component} is not loaded lazily`);
  return baseName(path);
}

interface BundleFiles {
  readonly files: ReadonlyMap<string, string | Uint8Array>;
  readonly first: readonly string[];
  /** Loaded when the first list is opened. */
  readonly list: readonly string[];
  readonly style: string;
  /** The text of the pages' style. */
  readonly pageStyle: string;
  readonly metafile: Metafile;
}

/** Throws where a budget is exceeded. */
function checkSizes({ files, first, list, style, pageStyle, metafile }: BundleFiles): string {
  const gzipped = (text: string | Uint8Array) => gzipSync(text, { level: 9 }).length;
  const size = (name: string) => gzipped(files.get(name) ?? "");
  const sum = (names: readonly string[]) => names.reduce((bytes, name) => bytes + size(name), 0);
  const firstScripts = sum(first);
  const withList = firstScripts + sum(list);
  const fonts = [...files].reduce((bytes, [name, { length }]) => bytes + (name.endsWith(".woff2") ? length : 0), 0);
  const problems = [
    ...(withList > budget.firstScripts ? [`the first load with a list is ${withList} bytes of script after gzip`] : []),
    ...(size(style) > budget.style ? [`the style is ${size(style)} bytes after gzip`] : []),
    ...(fonts > budget.fonts ? [`the fonts are ${fonts} bytes`] : []),
    ...(gzipped(pageStyle) > budget.pageStyle ? [`the pages' style is ${gzipped(pageStyle)} bytes after gzip`] : []),
  ];
  for (const [path, { inputs }] of Object.entries(metafile.outputs)) {
    const name = baseName(path);
    if (first.includes(name)) continue;
    const isEditor = Object.keys(inputs).some((input) => input.includes("node_modules/@codemirror/"));
    const most = isEditor ? budget.editor : budget.page;
    if (size(name) > most) problems.push(`${name} is ${size(name)} bytes after gzip, more than ${most}`);
  }
  if (problems.length > 0) throw new Error(`The Studio is too large: ${problems.join("; ")}`);
  return `first load ${kilobytes(firstScripts)} of script (with a list ${kilobytes(withList)}) and ${kilobytes(size(style))} of style (of pages ${kilobytes(gzipped(pageStyle))}), fonts ${kilobytes(fonts)}`;
}

/** Whatever could change what is made here. */
async function inputKey(): Promise<string> {
  const hash = new Bun.CryptoHasher("sha256").update(JSON.stringify(manifest.dependencies));
  const patterns = ["sites/studio/app/**/*", "plugins/*/studio/**/*", "scripts/{studio,studio-chunks,svg-path}.ts"];
  const found = await Promise.all(patterns.map((pattern) => Array.fromAsync(new Bun.Glob(pattern).scan(root))));
  for (const path of found.flat().toSorted())
    hash.update(`\n${path}\n`).update(await Bun.file(join(root, path)).bytes());
  return hash.digest("hex");
}

function hashOf(text: string | Uint8Array): string {
  return new Bun.CryptoHasher("sha256").update(text).digest("hex");
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1000).toFixed(1)} kB`;
}
