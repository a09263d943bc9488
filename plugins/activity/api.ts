/** How plugins note changes in the statements of their changes. */
export { inboxColumns, inboxFacts, inboxGiven, inboxManyColumns, inboxOld, inboxValues } from "./entry-store.ts";
