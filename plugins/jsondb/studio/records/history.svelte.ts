/** The events of a database's stream, newest first. */
import type { Row } from "../cells.ts";
import { happenedOf, mostHistory, type Happened } from "./meanwhile.ts";

const mostTold = 500;

export class History {
  list = $state.raw<readonly Happened[]>([]);
  /** How much has happened, also what is no longer kept. */
  heard = $state(0);
  /** The field that names a record. */
  nameField: string | undefined;
  /** Records that the stream has told of: the next change of one is compared with it. */
  private readonly told = new Map<string, Row>();

  /** `loaded`: records that are known otherwise, by their ids, as they were before. */
  add(events: readonly { readonly kind: string; readonly row: Row }[], loaded: ReadonlyMap<string, Row>): void {
    const now = new Map(loaded);
    const news = events.map(({ kind, row }) => {
      const before = this.told.get(row.id) ?? now.get(row.id);
      now.set(row.id, row);
      this.remember(kind, row);
      return happenedOf(kind, before, row, { n: ++this.heard, at: Date.now() }, this.nameField);
    });
    this.list = [...news.toReversed(), ...this.list].slice(0, mostHistory);
  }

  private remember(kind: string, row: Row): void {
    this.told.delete(row.id);
    if (kind !== "destroy") this.told.set(row.id, row);
    const [oldest] = this.told.keys();
    if (this.told.size > mostTold && oldest !== undefined) this.told.delete(oldest);
  }
}
