/** How plugins note changes in the statements of their changes. */
export { inboxColumns, inboxFacts, inboxValues } from "./entry-store.ts";
