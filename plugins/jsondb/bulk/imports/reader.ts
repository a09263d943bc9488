/** What finds the rows in the text of an import, whatever its format. */
import type { Format } from "../files/values.ts";
import type { Row } from "./rows.ts";
import type { Signs } from "./signs.ts";

/** Reads rows out of text that comes in pieces. */
export interface RowReader {
  push(text: string): Generator<Row>;
  end(): Generator<Row>;
  /** The columns left out of the rows so far, because they describe the records that the rows once were. */
  readonly leftOut: ReadonlySet<string>;
  /** The columns that go nowhere, because no field has their name. */
  readonly unmatched?: ReadonlySet<string>;
  /** How the texts of a field are written; undefined where values have types of their own. */
  readonly written?: (field: string) => Format | undefined;
  readonly signs?: Signs;
}
