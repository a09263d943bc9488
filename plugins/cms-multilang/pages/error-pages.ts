/** The kinds of pages that answer what is missing or has failed, and have no address of their own. */
export const errorKinds = ["404", "500"] as const;
export type ErrorKind = (typeof errorKinds)[number];
