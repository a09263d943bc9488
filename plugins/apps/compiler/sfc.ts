import type * as Sfc from "@vue/compiler-sfc";
// The build for Node reads files and does not bundle; this one has nothing to read them with.
import * as browserBuild from "@vue/compiler-sfc/dist/compiler-sfc.esm-browser.js";

/** Vue's compiler, and Babel's parser with it. The browser build has the same exports, and no declarations. */
export const sfc = browserBuild as unknown as typeof Sfc;
