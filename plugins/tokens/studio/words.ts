import { catalogue, menu, nameOfRight, text } from "studio";
import type { Level } from "studio/exact";
import de from "./text/de.json" with { type: "json" };
import en from "./text/en.json" with { type: "json" };
import pl from "./text/pl.json" with { type: "json" };

export const { texts } = catalogue(en, pl, de);

/** What `mayDo` says of a token of one's own, or of somebody else's. */
export function wordsOfMay(isMine: boolean) {
  const { everything, everythingOwner, ofTables: tables, noTable, onlyReads } = texts();
  return {
    everything: isMine ? everything : everythingOwner,
    tables,
    noTable,
    onlyReads,
    right: (name: string) => nameOfRight({ name }, text.language),
    level: (level: Level) => text.messages.levels[level],
    table: (key: string) => menu.of("table").find(({ id, code }) => key === String(id) || key === code)?.name ?? key,
  };
}
