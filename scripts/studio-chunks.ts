/**
 * Joins scripts that are always loaded together. esbuild splits what pages share by exactly which pages share it, which is
 * forty files for the first one; browsers on slow lines wait for each.
 */
import { build, type Metafile } from "esbuild";

export interface Scripts {
  /** By name, without a folder. */
  readonly files: ReadonlyMap<string, string>;
  readonly metafile: Metafile;
}

/** `groups`: the name that each joined file gets, and the names of those that it is made of; at most one is an entry. */
export async function joined(
  scripts: Scripts,
  groups: ReadonlyMap<string, readonly string[]>,
  hash: string,
): Promise<Scripts> {
  const groupOf = new Map([...groups].flatMap(([group, names]) => names.map((name) => [name, group] as const)));
  // Of one length, so that no two names joined to them can be the same.
  const places = new Map([...scripts.files.keys()].map((name, at) => [name, `_${at.toString(36).padStart(2, "0")}`]));
  const renamed = (name: string) => `${(groupOf.get(name) ?? name).replace(/\.js$/, "")}-${hash}.js`;
  /** Imports of joined files are imports of the whole by longer names, as each of them has an `a`. */
  const rewritten = (text: string) =>
    text
      .replaceAll(
        /(import|export)(?:\{([^}]*)\}from)?"\.\/([^"]+)"/g,
        (whole, word: string, list: string | undefined, name: string) => {
          if (!scripts.files.has(name)) return whole;
          const prefix = groupOf.has(name) ? places.get(name) : undefined;
          const from = list === undefined ? "" : `{${prefix === undefined ? list : prefixed(list, prefix)}}from`;
          return `${word}${from}"./${renamed(name)}"`;
        },
      )
      .replaceAll(/import\("\.\/([^"]+)"\)/g, (whole, name: string) =>
        scripts.files.has(name) ? `import("./${renamed(name)}")` : whole,
      );
  const files = new Map<string, string>();
  for (const [name, text] of scripts.files) if (!groupOf.has(name)) files.set(renamed(name), rewritten(text));
  for (const [group, names] of groups) {
    const entry = names.find((name) => entryIn(scripts.metafile, name));
    const text = await wholeOf({ files: scripts.files, names, places, entry });
    files.set(`${group}-${hash}.js`, rewritten(text));
  }
  return { files, metafile: metafileOf(scripts.metafile, renamed) };
}

/** `a as x,b` of the file `_7` is `_7a as x,_7b as b`. */
function prefixed(list: string, prefix: string): string {
  return list
    .split(",")
    .filter(Boolean)
    .map((one) => {
      const [name = "", as = name] = one.split(" as ");
      return `${prefix}${name} as ${as}`;
    })
    .join(",");
}

function entryIn({ outputs }: Metafile, name: string): boolean {
  return Object.entries(outputs).some(([path, { entryPoint }]) => entryPoint !== undefined && nameOf(path) === name);
}

interface Whole {
  readonly files: Scripts["files"];
  readonly names: readonly string[];
  readonly places: ReadonlyMap<string, string>;
  /** What it exports has its own names, too. */
  readonly entry: string | undefined;
}

/** One file of several, which exports what each of them does; imports of others stay. */
async function wholeOf({ files, names, places, entry }: Whole): Promise<string> {
  const lines = names.map((name) => {
    const list = exportsOf(files.get(name) ?? "");
    const each = list
      .flatMap((one) => [`${one} as ${places.get(name)}${one}`, ...(name === entry ? [one] : [])])
      .join(",");
    return list.length > 0 ? `export{${each}}from"./${name}";` : `import"./${name}";`;
  });
  const isOwn = new Set(names);
  const { outputFiles } = await build({
    stdin: { contents: lines.join("\n"), resolveDir: "/" },
    bundle: true,
    write: false,
    minify: true,
    format: "esm",
    target: "es2022",
    legalComments: "none",
    plugins: [
      {
        name: "joined",
        setup(builder) {
          builder.onResolve({ filter: /^\.\// }, ({ path, kind }) => {
            const name = path.slice(2);
            return isOwn.has(name) && kind !== "dynamic-import"
              ? { path: name, namespace: "joined" }
              : { path, external: true };
          });
          builder.onLoad({ filter: /.*/, namespace: "joined" }, ({ path }) => ({
            contents: files.get(path) ?? "",
            loader: "js",
          }));
        },
      },
    ],
  });
  return outputFiles[0]?.text ?? "";
}

/** The names that a file of esbuild exports, at its end. */
function exportsOf(text: string): string[] {
  const list = /export\{([^{}]*)\};\s*$/.exec(text)?.[1] ?? "";
  return list.split(",").flatMap((one) => one.split(" as ").at(-1)?.trim() || []);
}

/** The same with the new names; what was joined is one output. */
function metafileOf({ inputs, outputs }: Metafile, renamed: (name: string) => string): Metafile {
  const made: Metafile["outputs"] = {};
  for (const [path, output] of Object.entries(outputs)) {
    const name = renamed(nameOf(path));
    const before = made[name];
    const imports = output.imports.map((one) => (one.external ? one : { ...one, path: renamed(nameOf(one.path)) }));
    const others = [...(before?.imports ?? []), ...imports].filter(
      (one) => one.path !== name || one.kind === "dynamic-import",
    );
    made[name] = { ...output, ...before, imports: others, inputs: { ...before?.inputs, ...output.inputs } };
  }
  return { inputs, outputs: made };
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
