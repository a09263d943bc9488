/** How plugins write entries in the statements of their changes. */
export { entryColumns, entryValues } from "./entry-store.ts";
