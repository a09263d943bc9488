/** The picture of each kind of field, of the Studio's icons. */
import type { Kind } from "./kinds.ts";

const icons = {
  boolean: "good",
  choice: "tag",
  choices: "tags",
  date: "calendar",
  datetime: "clock",
  email: "mail",
  file: "file",
  files: "file",
  link: "link",
  links: "link",
  list: "list",
  long: "page",
  money: "amount",
  number: "number",
  percent: "percent",
  phone: "phone",
  rating: "star",
  rollup: "sum",
  text: "text",
  time: "clock",
  url: "globe",
} as const satisfies Record<Kind, string>;

export function iconOf(kind: Kind): (typeof icons)[Kind] {
  return icons[kind];
}
