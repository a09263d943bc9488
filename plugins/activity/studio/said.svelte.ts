/** What sentences about records need: the titles of records, read as entries come, and the fields of their tables. */
import { get, mapsIn, menu, ownOf, session, Tables, text, textOf, words } from "studio";
import { sentenceOf, type Column, type Sentence } from "./sentence.ts";
import { texts } from "./words.ts";

type Row = Readonly<Record<string, unknown>>;
const mostIds = 100;

export class Said {
  private readonly tables = new Tables();
  private titles = $state.raw<ReadonlyMap<string, string>>(new Map());

  /** Gives back what ends it. */
  begin(): () => void {
    return this.tables.begin();
  }

  /** Reads the titles of the records that these entries are about, as far as one may. */
  async read(rows: readonly Row[]): Promise<void> {
    if (!session.may("dbs")) return;
    const records = rows.filter(({ model }) => model === "Core::Record");
    const byTable = [...Map.groupBy(records, ({ name }) => textOf(name))];
    const found = await Promise.allSettled(
      byTable.map(async ([db, entries]) => {
        const ids = [...new Set(entries.map((one) => textOf(one["record_id"])))].slice(0, mostIds);
        const query = new URLSearchParams({ "filter[id][in]": ids.join(","), limit: `${mostIds}` });
        const { json } = await get(`/core/dbs/${encodeURIComponent(db)}/records.json?${query}`);
        return mapsIn(json).map((one) => [`${db} ${textOf(one["id"])}`, one["data"]] as const);
      }),
    );
    const next = new Map(this.titles);
    for (const [key, data] of found.flatMap((one) => (one.status === "fulfilled" ? one.value : []))) {
      const field = this.tablesOf(key.split(" ")[0] ?? "").find(({ titleField }) => titleField)?.titleField ?? "";
      const title = textOf(ownOf(mapsIn([data])[0] ?? {}, field));
      if (title !== "") next.set(key, title);
    }
    this.titles = next;
  }

  sentence(row: Row, name: string | undefined): Sentence {
    const deleted = row["action"] === "delete" ? mapsIn([row["changes"]])[0] : undefined;
    return sentenceOf(row, {
      name,
      texts: texts(),
      resources: session.resources,
      singular: (path) => text.singular(path),
      plural: (path) => text.plural(path),
      field: (resource, one) => text.field(resource, one),
      table: (code) => menu.nameOf("table", code),
      title: (db, id) => this.titles.get(`${db} ${id}`) ?? this.titleBefore(db, deleted),
      column: (db, one) => this.column(db, one),
    });
  }

  /** What a field was before and after, in words; undefined where there are none. */
  change(row: Row, name: string) {
    const resource = session.resources.find(({ model }) => model !== undefined && model === row["model"]);
    const isRecord = row["model"] === "Core::Record";
    const { label, shown } = isRecord
      ? this.column(textOf(row["name"]), name)
      : { label: resource ? text.field(resource, name) : words(name), shown: plainly };
    const [change = {}] = mapsIn([ownOf(mapsIn([row["changes"]])[0] ?? {}, name)]);
    const side = (value: unknown) =>
      value === undefined || value === null || value === "" ? texts().blank : shown(value);
    return { label, before: side(change["old"]), after: side(change["new"]) };
  }

  /** Of a deleted record only the entry knows what it was called. */
  private titleBefore(db: string, changes: Row | undefined): string | undefined {
    const field = this.tablesOf(db).find(({ titleField }) => titleField)?.titleField;
    const [change] = mapsIn([field === undefined ? undefined : changes?.[field]]);
    return change ? textOf(change["old"]) || undefined : undefined;
  }

  private tablesOf(db: string) {
    return this.tables.tables.filter((one) => one.db === db);
  }

  private column(db: string, name: string): Column {
    const field = this.tablesOf(db)
      .flatMap(({ fields }) => fields)
      .find((one) => one.name === name);
    const shown = (value: unknown): string | undefined => {
      if (Array.isArray(value)) return all(value.map(shown));
      const choice = field?.choices.find((one) => one.value === value);
      if (choice) return choice.label;
      if (field?.kind === "date") return text.day(new Date(`${textOf(value)}T12:00:00Z`));
      if (field?.kind === "datetime") return text.time(textOf(value));
      if (typeof value === "number") return text.number(value);
      return field?.kind === "link" || field?.kind === "file" ? undefined : plainly(value);
    };
    return { label: field?.label ?? words(name), shown };
  }
}

function plainly(value: unknown): string | undefined {
  if (typeof value === "boolean") return value ? text.messages.yes : text.messages.no;
  if (Array.isArray(value)) return all(value.map(plainly));
  return typeof value === "string" || typeof value === "number" ? String(value) : undefined;
}

/** Undefined if one of them is. */
function all(items: readonly (string | undefined)[]): string | undefined {
  return items.includes(undefined) ? undefined : items.join(", ");
}
