/** What belongs to a table beside its records, in the order of the menu behind the gear. */
import type { say } from "../words.ts";

type Word = Parameters<typeof say>[0];

export const parts: readonly { readonly path: string; readonly word: Word }[] = [
  { path: "schema", word: "fieldsOfTable" },
  { path: "import", word: "import" },
  { path: "export", word: "export" },
  { path: "public", word: "public" },
  { path: "indexes", word: "speed" },
  { path: "events", word: "changes" },
  { path: "charts", word: "charts" },
  { path: "trash", word: "bin" },
  { path: "tasks", word: "longWork" },
  { path: "settings", word: "settings" },
];
