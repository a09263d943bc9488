import type * as Sfc from "@vue/compiler-sfc";
// The build for Node reads files and cannot be bundled; the browser build cannot read files.
import * as browserBuild from "@vue/compiler-sfc/dist/compiler-sfc.esm-browser.js";

/** Vue's compiler, which includes Babel's parser. The browser build has the same exports but no type declarations. */
export const sfc = browserBuild as unknown as typeof Sfc;
