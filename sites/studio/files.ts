/** What scripts/studio.ts has built from `app/`. */
import { generatedFile } from "platform";

/** Written by scripts/studio.ts; all are names of files. */
export interface Manifest {
  readonly script: string;
  /** What the script imports at once. */
  readonly preloads: readonly string[];
  readonly style: string;
  readonly mark: string;
  /** Of the pages of built-in plugins: they hold up no other page, nor the second one a table. */
  readonly pageStyles: readonly [string, string];
  /** By language, beside English. */
  readonly words: Readonly<Record<string, string>>;
  /** Those of a built-in page, by its path below /studio. */
  readonly pages: readonly {
    readonly path: string;
    readonly files: readonly string[];
    /** Its first requests, with `%7Bname%7D` for each parameter. */
    readonly first?: readonly string[];
    /** It does not wait for the API's description. */
    readonly early?: true;
  }[];
  /** Those of the first page. */
  readonly home: readonly string[];
  /** Those of a generic list and form. */
  readonly generic: readonly string[];
  /** All of them: name -> hash of the content. */
  readonly files: Readonly<Record<string, string>>;
}

export interface StudioFiles extends Manifest {
  /** A file, compressed where `suffix` is `.br` or `.gz`; undefined for an unknown name. */
  read(name: string, suffix: string): Promise<Uint8Array<ArrayBuffer> | undefined>;
}

export async function loadFiles(): Promise<StudioFiles> {
  // scripts/studio.ts wrote it, so its form is known.
  const manifest = JSON.parse(new TextDecoder().decode(await generatedFile("studio/manifest.json"))) as Manifest;
  return {
    ...manifest,
    // Nothing is kept in memory: a browser asks for each once.
    read: async (name, suffix) =>
      Object.hasOwn(manifest.files, name) ? generatedFile(`studio/${name}${suffix}`) : undefined,
  };
}
