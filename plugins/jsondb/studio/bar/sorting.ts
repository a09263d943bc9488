/** Which end of an order comes first, in the words of a kind of field. Pure. */
import type { Kind } from "../look/kinds.ts";

const ofKind: Partial<Record<Kind, readonly ["earliest", "latest"] | readonly ["smallest", "largest"]>> = {
  date: ["earliest", "latest"],
  datetime: ["earliest", "latest"],
  time: ["earliest", "latest"],
  number: ["smallest", "largest"],
  money: ["smallest", "largest"],
  percent: ["smallest", "largest"],
  rating: ["smallest", "largest"],
  rollup: ["smallest", "largest"],
};

export function sortWords(
  kind: Kind,
): readonly ["earliest" | "smallest" | "sortUpText", "latest" | "largest" | "sortDownText"] {
  return ofKind[kind] ?? ["sortUpText", "sortDownText"];
}
