/** The kinds of pages that answer for missing or failing pages. They have no address of their own. */
export const errorKinds = ["404", "500"] as const;
export type ErrorKind = (typeof errorKinds)[number];
