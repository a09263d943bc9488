import type { Plugin } from "platform";

/** The built-in plugins. Literal imports, as the compiler of the binary needs them. */
export const plugins: readonly Plugin[] = [];
