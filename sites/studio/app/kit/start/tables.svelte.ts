/** The tables of the account, followed as others change them. */
import { words } from "../../resources/names.ts";
import { mapsIn } from "../../resources/values.ts";
import { followChanges } from "../../server/events.ts";
import { get } from "../../server/request.ts";
import { session } from "../../state/session.svelte.ts";
import { text } from "../../state/text.svelte.ts";
import { tablesOf, type Table, type TableField } from "./tables.ts";

export class Tables {
  tables = $state.raw<readonly Table[]>([]);

  async read(): Promise<void> {
    const { json } = await get("/core/dbs.json?limit=500");
    this.tables = mapsIn(json).flatMap((row) => tablesOf(row, text.language, words));
  }

  /** Reads them, and again what changes. Gives back what ends that. */
  begin(): () => void {
    if (!session.may("dbs")) return () => undefined;
    const look = () => void this.read().catch(() => undefined); // what one may not see is typed
    look();
    return followChanges("/core/dbs", look);
  }

  table(db: unknown, table: unknown): Table | undefined {
    return this.tables.find((one) => one.db === db && (one.table === "" || one.table === (table ?? "")));
  }

  fieldsOf(db: unknown, table: unknown): readonly TableField[] {
    return this.table(db, table)?.fields ?? [];
  }
}
