/** How plugins write entries in the statements of their changes. */
export { entryActor, entryChanges, entryColumns } from "./entry-store.ts";
