/** The pages that plugins bring as modules: each is served at an address that changes with its source. */
import { contentHash, type PluginFacts, type StudioPage } from "platform";

export interface Extension extends Omit<StudioPage, "module"> {
  readonly plugin: string;
  /** `<hash>.js` */
  readonly file: string;
  readonly source: string;
}

/** Throws where a page asks for a privilege that no plugin declares: nobody could open it. */
export function extensionsOf(plugins: readonly PluginFacts[]): Extension[] {
  const known = new Set(plugins.flatMap(({ privileges }) => privileges.map(({ name }) => name)));
  return plugins.flatMap(({ name, studio = [] }) =>
    studio.map(({ module, ...page }) => {
      if (page.privilege !== undefined && !known.has(page.privilege))
        throw new Error(
          `plugin "${name}": the page ${page.path} needs the privilege "${page.privilege}", which no plugin declares`,
        );
      return { ...page, plugin: name, file: `${contentHash(module)}.js`, source: module };
    }),
  );
}
