/** The file of an import: what the server says of it, where its columns go, and how they are read. */
import { text } from "studio";
import { optionsOf } from "../../databases/choices.ts";
import { Database } from "../database.svelte.ts";
import { withField } from "../schema/changes.ts";
import { changeSchema } from "../schema/tables.ts";
import { nameFor } from "../schema/kind-words.ts";
import type { TableDraft } from "../schema.ts";
import { isTwofold, previewOf, type Format, type Preview, type PreviewColumn } from "./preview.ts";
import { bodyOf, mediaTypes, someRows, type FileRow, type MendedRow } from "./rows.ts";
import { send, wordsIn, type Sent, type Sending } from "./send.ts";
import type { Fault } from "./faults.ts";

/** So much of a text is looked at before the import; a workbook is sent whole. */
const lookedAt = 5_000_001;
const firstRows = 8;
/** A column that becomes a new field. */
export const newField = "+";

export interface Column extends PreviewColumn {
  /** A field of the table, `customer:email`, `+` for a new field; null: left out. */
  readonly target: string | null;
}

/** What the server is not to find out by itself. */
export interface Options {
  readonly sheet?: string;
  readonly header_row?: string;
  readonly encoding?: string;
  readonly separator?: string;
}

type ByColumn<T> = Readonly<Record<string, T>>;

/** A table that a column of a new table may link to, by a field that its records are known by. */
export interface Ending {
  readonly link: string;
  readonly by: string;
  readonly label: string;
}

export class Source {
  /** Undefined: the file becomes a new table. */
  db = $state<string | undefined>();
  database = $state.raw<Database | undefined>();
  table = $state<string | undefined>();
  file = $state.raw<File | undefined>();
  options = $state.raw<Options>({});
  preview = $state.raw<Preview | undefined>();
  /** What was chosen in place of the guess. */
  targets = $state.raw<ByColumn<string | null>>({});
  formats = $state.raw<ByColumn<Format>>({});
  /** By their numbers: the first ones and the faulty ones. */
  rows = $state.raw<ReadonlyMap<number, FileRow>>(new Map());
  /** Whoever may only add records sends columns by the names of fields. */
  isPlain = $state(false);

  constructor(db: string | undefined) {
    this.db = db;
    this.database = db === undefined ? undefined : new Database(db);
  }

  readonly columns: readonly Column[] = $derived(
    (this.preview?.columns ?? []).map((column) => {
      const chosen = this.targets[column.name];
      // Whoever may add fields is offered one for a column that has none.
      const mayAdd = !this.isPlain && column.type !== undefined && this.database?.may("manage") === true;
      return { ...column, target: chosen === undefined ? (column.field ?? (mayAdd ? newField : null)) : chosen };
    }),
  );
  readonly isJson: boolean = $derived(this.preview?.format === "json" || this.preview?.format === "ndjson");
  private readonly fields = $derived(
    this.columns.flatMap(({ name, target, format }) =>
      target === null || target === newField ? [] : [{ column: name, field: target, format }],
    ),
  );

  clear(): void {
    this.file = this.preview = undefined;
    this.options = this.targets = this.formats = {};
    this.rows = new Map();
    this.isPlain = false;
  }

  /** The column of a field; `customer` also of `customer:email`. */
  columnOf(field: string): Column | undefined {
    return this.columns.find(({ target }) => target === field || target?.split(":", 1)[0] === field);
  }

  readonly fieldNames: readonly string[] = $derived(this.fields.map(({ field }) => field));

  tableDraft(): TableDraft | undefined {
    const tables = this.database?.schema.tables ?? [];
    return this.table === undefined ? tables[0] : tables.find(({ name }) => name === this.table);
  }

  /** Looks at the file; answers with words where it is no table. */
  async look(signal: AbortSignal): Promise<string> {
    const { file, db } = this;
    if (!file) return "";
    const isBook = (await file.slice(0, 2).text()) === "PK";
    const query = queryOf({ db, table_name: this.table, ...this.options });
    if (this.preview) {
      query.set("mapping", this.mapping());
      query.set("formats", JSON.stringify(this.formats));
    }
    const body = isBook ? file : file.slice(0, lookedAt);
    const path = `/core/dbs/import/preview?${query}`;
    const { json, status } = await send(path, body, "application/octet-stream", { signal });
    const preview = previewOf(json);
    if (status !== 200 || !preview) return wordsIn(json, file.name);
    this.preview = preview;
    await this.read([]);
    return "";
  }

  /** The first rows, and these. */
  async read(numbers: readonly number[]): Promise<void> {
    const { file, preview } = this;
    if (file && preview) this.rows = await someRows(file, preview, firstRows, numbers);
  }

  /** Cells that the preview says cannot be read. */
  faults(): Fault[] {
    return this.columns.flatMap(({ target, doubtful }) =>
      doubtful.flatMap((one) =>
        target === null || isTwofold(one)
          ? []
          : [{ row: one.row, line: undefined, field: target, message: `"${one.value}" ${one.why}` }],
      ),
    );
  }

  private mapping(): string {
    const pairs = this.columns.map(({ name, target }) => [name, target === newField ? null : target]);
    return JSON.stringify(Object.fromEntries(pairs));
  }

  /** The whole file, as its preview has shown it. */
  async send(path: string, more: ByColumn<string>, sending: Sending): Promise<Sent> {
    const { file, preview } = this;
    if (!file || !preview) throw new Error("there is no file");
    const { sheet, encoding, delimiter, headerRow, format } = preview;
    const formats = Object.fromEntries(this.fields.map(({ column, format: own }) => [column, own]));
    const shown = {
      mapping: this.mapping(),
      formats: JSON.stringify(formats),
      sheet,
      encoding,
      separator: delimiter === "\t" ? "tab" : delimiter,
      header_row: this.isJson ? undefined : String(headerRow),
    };
    const query = queryOf({ ...more, table_name: this.table, ...(!this.isPlain && shown) });
    return send(`${path}?${query}`, file, mediaTypes[format], sending);
  }

  /** Rows alone, by the names of fields. */
  async sendRows(rows: readonly MendedRow[], more: ByColumn<string>, sending: Sending): Promise<Sent> {
    const { isJson } = this;
    const { body, format } = bodyOf(rows, this.fields, isJson);
    const formats = JSON.stringify(Object.fromEntries(this.fields.map(({ field, format: own }) => [field, own])));
    const cells = { separator: ",", ...(!this.isPlain && { header_row: "1", encoding: "utf-8" }) };
    const query = queryOf({
      ...more,
      table_name: this.table,
      ...(!this.isPlain && { formats }),
      ...(!isJson && cells),
    });
    return send(`${importPath(this.db)}?${query}`, body, mediaTypes[format], sending);
  }

  /** The number that a spreadsheet gives a row, in JSON its place. `line`: as the server says it. */
  numberOf(row: number, line = this.rows.get(row)?.line): string {
    return text.number(line ?? row);
  }

  // What somebody chooses.

  retarget(column: string, target: string | null): void {
    const taken = this.columns.find((one) => one.name !== column && one.target === target);
    const isFree = !taken || target === null || target === newField;
    const { [column]: _, ...formats } = this.formats;
    this.formats = formats;
    this.targets = { ...this.targets, ...(!isFree && { [taken.name]: null }), [column]: target };
  }

  reformat(column: string, format: Format): void {
    if (this.formats[column]?.link !== undefined) this.targets = { ...this.targets, [column]: this.bare(column) };
    this.formats = { ...this.formats, [column]: format };
  }

  /** A column of a new table as a link, by a field of the records that its values name. */
  link(column: string, { link, by }: Pick<Ending, "link" | "by">): void {
    this.targets = { ...this.targets, [column]: `${this.bare(column)}:${by}` };
    this.formats = { ...this.formats, [column]: { type: "string", link } };
  }

  private bare(column: string): string {
    return (this.columns.find(({ name }) => name === column)?.target ?? column).split(":", 1)[0] ?? "";
  }

  reread(options: Options, table: string | undefined): void {
    this.options = options;
    this.table = table;
    this.preview = undefined;
    this.targets = this.formats = {};
  }

  /** The fields that columns are to become: they are there before the rows are. */
  async addFields(): Promise<void> {
    const { database } = this;
    for (const { name, target, type = "string", format, values } of this.columns) {
      if (target !== newField || !database) continue;
      const field = nameFor(name, this.tableDraft()?.fields.map((one) => one.name) ?? []);
      const definition = { type, label: { [text.language]: name }, ...optionsOf(type, format, values) };
      await changeSchema(database, (draft) => withField(draft, this.table ?? "", field, definition));
      this.targets = { ...this.targets, [name]: field };
    }
  }
}

export const importPath = (db: string | undefined) => `/core/dbs/${encodeURIComponent(db ?? "")}/import`;

function queryOf(values: ByColumn<string | undefined>): URLSearchParams {
  return new URLSearchParams(
    Object.entries(values).flatMap(([name, value]) => (value === undefined || value === "" ? [] : [[name, value]])),
  );
}
