/**
 * Empties the parts of ICU's data that PostgreSQL never asks for: it compares, and turns letters into capitals. What is
 * left out are converters of encodings (the database is UTF-8), dictionaries that find words in Thai or Chinese, and
 * names of currencies, languages, regions, units and time zones. The file keeps its size and is packed to a seventh.
 */

/** Below a folder such as `icudt60l/`. */
const unneeded = /^((curr|lang|rbnf|region|translit|unit|zone)\/.*|brkitr\/.*\.dict|.*\.(cnv|spp|cfu)|unames\.icu)$/;

/** The data's form: a header, then a table of the offsets of each item's name and content, ordered by name. */
const form = Buffer.from("CmnD");
const entryBytes = 8;

interface Item {
  readonly name: string;
  readonly nameAt: number;
  readonly at: number;
  readonly end: number;
}

/** `file` is a libicudata of Linux. Throws if its data has another form. */
export async function trimIcu(file: string): Promise<void> {
  const bytes = Buffer.from(await Bun.file(file).arrayBuffer());
  // The form is twelve bytes after the beginning, which holds the length of the header.
  const header = bytes.indexOf(form) - 12;
  if (header < 0 || bytes.readUInt16BE(header + 2) !== 0xda27) throw new Error(`${file} is not data of ICU`);
  const table = bytes.subarray(header + bytes.readUInt16LE(header));
  const items = itemsOf(table);
  const kept = items.filter(({ name }) => !unneeded.test(name));
  if (kept.length === items.length) throw new Error(`${file} holds nothing to leave out`);
  for (const { name, at, end } of items) if (unneeded.test(name)) table.fill(0, at, end);
  table.writeUInt32LE(kept.length, 0);
  for (const [index, { nameAt, at }] of kept.entries()) {
    table.writeUInt32LE(nameAt, 4 + index * entryBytes);
    table.writeUInt32LE(at, 8 + index * entryBytes);
  }
  await Bun.write(file, bytes);
}

function itemsOf(table: Buffer): Item[] {
  const count = table.readUInt32LE(0);
  const places = Array.from({ length: count }, (_, index) => ({
    nameAt: table.readUInt32LE(4 + index * entryBytes),
    at: table.readUInt32LE(8 + index * entryBytes),
  }));
  return places.map(({ nameAt, at }, index) => {
    const name = table.toString("latin1", nameAt, table.indexOf(0, nameAt));
    // The end of the last one is unknown, so it stays as it is.
    return { name: name.slice(name.indexOf("/") + 1), nameAt, at, end: places[index + 1]?.at ?? at };
  });
}
