/** The pages that plugins bring as modules: each is served at an address that changes with its source. */
import { contentHash, createPackedText, type PluginFacts, type StudioPage } from "platform";

export interface Extension extends Omit<StudioPage, "module"> {
  readonly plugin: string;
  /** `<hash>.js` */
  readonly file: string;
  /** Answers with its module. */
  readonly send: (request: Request) => Promise<Response>;
}

/** The runtime has bundled their modules, unless this is a command that serves nothing. */
export function extensionsOf(plugins: readonly PluginFacts[]): Extension[] {
  return plugins.flatMap(({ name, studio = [] }) =>
    studio.flatMap(({ module, ...page }) =>
      typeof module === "string"
        ? [{ ...page, plugin: name, file: `${contentHash(module)}.js`, send: packed(module) }]
        : [],
    ),
  );
}

/** Kept by the browser, and not by what stands between: not everyone may have it. */
function packed(source: string): Extension["send"] {
  const headers = { "cache-control": "private, max-age=31536000, immutable" };
  return createPackedText("text/javascript; charset=utf-8", () => source, headers);
}
