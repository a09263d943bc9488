/** What belongs to a table beside its records, in the order of the menu behind the gear. `says`: what a name does not. */
import type { Level } from "studio/exact";
import type { say } from "../words.ts";

type Word = Parameters<typeof say>[0];

export const parts: readonly {
  readonly path: string;
  readonly word: Word;
  readonly says?: Word;
  readonly may: Level;
}[] = [
  { path: "schema", word: "fieldsOfTable", may: "manage" },
  { path: "import", word: "import", may: "add" },
  { path: "export", word: "export", may: "read" },
  { path: "public", word: "public", may: "manage" },
  { path: "indexes", word: "speed", says: "speedSays", may: "manage" },
  { path: "events", word: "changes", may: "read" },
  { path: "charts", word: "charts", may: "read" },
  { path: "trash", word: "bin", may: "edit" },
  { path: "tasks", word: "longWork", says: "longWorkSays", may: "edit" },
  { path: "settings", word: "settings", may: "manage" },
];
