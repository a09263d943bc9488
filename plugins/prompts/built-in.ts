import { parseFrontMatter } from "./front-matter.ts";

/** A prompt from a plugin's file. */
export interface BuiltIn {
  readonly plugin: string;
  readonly kind: "chat" | "agent";
  readonly name: string | null;
  readonly placeholder: string | null;
  /** The text to render. */
  readonly text: string;
  /** The whole file, with its front matter. */
  readonly file: string;
}

interface PromptFiles {
  readonly name: string;
  readonly prompts: Readonly<Record<string, string>>;
}

/**
 * All plugins' prompt files by code: `<code>.agent.md` before `<code>.md` (behaviour 2.1). Throws if two plugins have
 * a file with the same name, because the order of plugins would silently decide.
 */
export function builtInPrompts(plugins: readonly PromptFiles[]): ReadonlyMap<string, BuiltIn> {
  const owners = new Map<string, string>();
  const found = new Map<string, BuiltIn>();
  for (const plugin of plugins) {
    for (const [fileName, file] of Object.entries(plugin.prompts)) {
      const owner = owners.get(fileName);
      if (owner !== undefined)
        throw new Error(`plugins "${owner}" and "${plugin.name}" both have the prompt ${fileName}`);
      owners.set(fileName, plugin.name);
      const match = /^(.+?)(\.agent)?\.md$/.exec(fileName);
      if (!match) throw new Error(`plugin "${plugin.name}": the prompt ${fileName} must be named <code>.md`);
      const [, code = "", agent] = match;
      if (agent || !found.has(code))
        found.set(code, { plugin: plugin.name, kind: agent ? "agent" : "chat", file, ...parseFrontMatter(file) });
    }
  }
  return found;
}
