/** What `corestead test` gives a plugin's tests: the modules of plugins, and "platform/test". */
export { modules } from "./modules.ts";
export * as testing from "../runtime/operations/authors/test-app.ts";
