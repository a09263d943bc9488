/** The browser runtimes of the engines, bundled once by scripts/runtimes.ts. architecture 5. */
import { type AppEngine } from "../choices.ts";
import { generatedFile } from "platform";

export interface AppRuntimes {
  /** Changes with every version of a runtime or of the browser SDK. */
  readonly hash: string;
  /** Changes with every version of a compiler or of a package that compiled code imports. */
  readonly toolchain: string;
  /** The import map of an engine: specifier -> `/_rt/<hash>/x.js`; of a preview with what tells mistakes in words. */
  importMap(engine: AppEngine, isPreview?: boolean): Readonly<Record<string, string>>;
  /** The addresses of the files that every app of the engine needs. */
  preloads(engine: AppEngine, isPreview?: boolean): readonly string[];
  /** The address of a named file: `core.js` (the SDK), `tailwind.js` (@tailwindcss/browser). Throws for an unknown name. */
  address(name: string): string;
  /** A file, compressed where `suffix` is `.br` or `.gz`; undefined for an unknown name. */
  read(name: string, suffix: string): Promise<Uint8Array<ArrayBuffer> | undefined>;
}

/** Written by scripts/runtimes.ts. */
interface Manifest {
  readonly hash: string;
  readonly toolchain: string;
  /** File name -> the files that it imports. */
  readonly files: Readonly<Record<string, readonly string[]>>;
  /** Specifier -> file name. */
  readonly specifiers: Readonly<Record<string, string>>;
  /** The same for previews, where they differ. */
  readonly development: Readonly<Record<string, string>>;
}

/** The packages, with their subpaths, that apps of an engine may import. Plain pages may import all that the server ships. */
const packages: Readonly<Record<AppEngine, readonly string[]>> = {
  svelte: ["svelte"],
  vue: ["vue"],
  react: ["react", "react-dom"],
  js: ["svelte", "vue", "react", "react-dom", "kaplay", "kaboom", "phaser"],
  html: ["svelte", "vue", "react", "react-dom", "kaplay", "kaboom", "phaser"],
  kaboom: ["kaboom", "kaplay"],
  phaser: ["phaser"],
};

/** The imports that compiled code always has. */
const needed: Readonly<Record<AppEngine, readonly string[]>> = {
  svelte: ["svelte", "svelte/internal/client"],
  vue: ["vue"],
  react: ["react", "react/jsx-runtime", "react-dom/client"],
  js: [],
  html: [],
  kaboom: ["kaboom"],
  phaser: ["phaser"],
};

export async function loadRuntimes(): Promise<AppRuntimes> {
  // scripts/runtimes.ts wrote it, so its form is known.
  const manifest = JSON.parse(new TextDecoder().decode(await generatedFile("runtimes/manifest.json"))) as Manifest;
  const { hash, toolchain, files, specifiers } = manifest;
  const previewed = { ...specifiers, ...manifest.development };
  const read = new Map<string, Promise<Uint8Array<ArrayBuffer>>>();
  const maps = new Map<string, Readonly<Record<string, string>>>();

  const address = (name: string): string => {
    if (!Object.hasOwn(files, name)) throw new Error(`there is no runtime file ${name}`);
    return `/_rt/${hash}/${name}`;
  };
  const importMap = (engine: AppEngine, isPreview: boolean) => {
    const own = Object.entries(isPreview ? previewed : specifiers).filter(([specifier]) =>
      packages[engine].includes(packageOf(specifier)),
    );
    return Object.fromEntries(own.map(([specifier, file]) => [specifier, address(file)]));
  };
  const preloads = (engine: AppEngine, isPreview = false) => {
    const entries = needed[engine].flatMap((specifier) => (isPreview ? previewed : specifiers)[specifier] ?? []);
    return [...new Set(entries.flatMap((entry) => [entry, ...(files[entry] ?? [])]))].map(address);
  };

  return {
    hash,
    toolchain,
    address,
    importMap(engine, isPreview = false) {
      const key = `${engine} ${isPreview}`;
      const map = maps.get(key) ?? importMap(engine, isPreview);
      maps.set(key, map);
      return map;
    },
    preloads,
    async read(name, suffix) {
      if (!Object.hasOwn(files, name)) return undefined;
      const path = `runtimes/${name}${suffix}`;
      const bytes = read.get(path) ?? generatedFile(path);
      read.set(path, bytes);
      return bytes;
    },
  };
}

function packageOf(specifier: string): string {
  return specifier.split("/", 1)[0] ?? specifier;
}
