/** The state of the grid of records: what is chosen, where the focus is, and what is being typed. */
import { ApiError, filledIn, messageOf, nextCell, ownOf, text as language, toasts, type GridCell } from "studio";
import { canEditInCell, isOwn, typedText, typedValue, valueAt, type Row } from "../cells.ts";
import type { Level } from "studio/exact";
import type { Look } from "../look/kinds.ts";
import { labelled, reading } from "../look/looks.svelte.ts";
import type { Titles } from "../look/titles.svelte.ts";
import { shownText } from "../look/values.ts";
import { Many, type Sent } from "./many.svelte.ts";
import { heightOf, paste, placeOfError, update, printTsv, readTsv, type Column, type Pasted } from "../grid.ts";
import { ChangedMeanwhile, isNew, refusalOf, type Rows } from "./rows.svelte.ts";
import { say } from "../words.ts";

/** More rows than these are changed only after one has typed their number. */
export const manyRows = 20;
export const mostInBatch = 1000;

interface Editing {
  readonly id: string;
  /** Where its row is. */
  readonly index: number;
  readonly column: string;
  readonly text: string;
  /** The value that one began with. */
  readonly before: unknown;
  /** What is typed replaces it. */
  readonly isReplaced: boolean;
}

/** What a save has changed. */
interface Change {
  readonly row: Row;
  readonly column: Column;
  readonly before: unknown;
}

interface Fault {
  readonly id: string;
  readonly column: string;
  readonly message: string;
}

/** Row 0 is the header, column 0 has the box to choose a row. */
export class Grid {
  active = $state.raw<GridCell>({ row: 1, column: 1 });
  anchor = $state.raw<GridCell>({ row: 1, column: 1 });
  editing = $state.raw<Editing | undefined>();
  /** Tab goes on to the next cell: from the first click or change, until Esc or the focus leaves the grid. */
  isEntering = false;
  fault = $state.raw<Fault | undefined>();
  chosen = $state.raw<ReadonlySet<string>>(new Set());
  /** Chosen are all that the filters find, also those that are not loaded. */
  all = $state(false);
  columns = $state.raw<readonly Column[]>([]);
  readonly rows: Rows;
  /** Changes of many at once. */
  readonly many: Many;
  /** The table of new records. */
  readonly table: string | null;
  readonly titles: Titles;
  /** What the person may do here. */
  readonly may: (level: Level) => boolean;

  constructor(rows: Rows, table: string | null, titles: Titles, may: (level: Level) => boolean) {
    this.rows = rows;
    this.titles = titles;
    this.may = may;
    this.many = new Many(rows);
    this.table = table;
    rows.onmade = (line, row) => {
      const { editing, fault } = this;
      if (editing?.id === line) this.editing = { ...editing, id: row.id, before: valueAt(row, editing.column) };
      if (fault?.id === line) this.fault = { ...fault, id: row.id };
    };
  }

  /** Other columns draw every cell anew, so those that are shown already stay. */
  show(columns: readonly Column[]): void {
    this.rows.nameField = columns.find(({ name }) => !isOwn(name))?.name;
    const isSame = (column: Column, at: number) =>
      column.name === this.columns[at]?.name && definitionOf(column) === definitionOf(this.columns[at]);
    if (columns.length !== this.columns.length || !columns.every(isSame)) this.columns = columns;
  }

  private lookOf(name: string): Look | undefined {
    const column = this.columns.find((one) => one.name === name);
    return column && labelled(column);
  }

  /** The active cell, or the nearest that is still there: the one that Tab leads to. */
  get stop(): GridCell {
    const { row, column } = this.active;
    return { row: Math.min(row, this.rows.count), column: Math.min(column, this.columns.length) };
  }

  get activeRow(): Row | undefined {
    return this.rows.at(this.active.row - 1);
  }

  /** The rectangle between where one began and the active cell; without the header and the boxes. */
  get range(): { readonly row: number; readonly column: number; readonly rows: number; readonly columns: number } {
    const [a, b] = [this.active, this.anchor];
    const row = Math.max(1, Math.min(a.row, b.row));
    const column = Math.max(1, Math.min(a.column, b.column));
    return {
      row: row - 1,
      column: column - 1,
      rows: Math.max(a.row, b.row) - row + 1,
      columns: Math.max(a.column, b.column) - column + 1,
    };
  }

  isInRange(index: number, column: number): boolean {
    const { row, column: first, rows, columns } = this.range;
    if (rows * columns === 1) return false;
    return index >= row && index < row + rows && column >= first && column < first + columns;
  }

  moveTo(cell: GridCell, extend = false): void {
    this.active = cell;
    if (!extend) this.anchor = cell;
  }

  /** The focus has come to a cell. */
  enter(cell: GridCell): void {
    if (cell.row !== this.active.row || cell.column !== this.active.column) this.moveTo(cell);
  }

  /** Whether the key moved. */
  move(event: KeyboardEvent): boolean {
    const next = nextCell(this.stop, event, this.rows.count + 1, this.columns.length + 1);
    if (next) this.moveTo(next, event.shiftKey && next.row > 0);
    return next !== undefined;
  }

  isChosen(id: string): boolean {
    return this.all || this.chosen.has(id);
  }

  /** Whether more match than are loaded, which are all chosen. */
  get mayChooseAll(): boolean {
    const { loaded, end, total } = this.rows;
    if (this.all || loaded.length === 0 || loaded.length >= (end ?? total ?? Infinity)) return false;
    return this.chosen.size >= loaded.length && loaded.every(({ id }) => this.chosen.has(id));
  }

  chooseNone(): void {
    this.all = false;
    this.chosen = new Set();
  }

  choose(ids: readonly string[], chosen: boolean): void {
    // Without one of them it is no longer all: then those are chosen that one can see.
    const next = new Set(this.all ? this.rows.loaded.map(({ id }) => id) : this.chosen);
    this.all = false;
    for (const id of ids.filter((one) => !isNew(one))) {
      if (chosen) next.add(id);
      else next.delete(id);
    }
    this.chosen = next;
  }

  /** A new last line, with the cursor in its first cell. */
  begin(values: Row["data"]): void {
    this.rows.begin(values, this.table);
    const row = this.rows.count;
    const at = this.columns.findIndex(({ name }) => this.edit(row - 1, name, true));
    this.moveTo({ row, column: at + 1 });
  }

  /** Whether the cell can be changed where it is. */
  edit(index: number, column: string, isReplaced = false): boolean {
    const row = this.rows.at(index);
    const kind = this.lookOf(column)?.kind;
    // Files are chosen, and rollups reckoned, in the record.
    if (kind === "rollup" || kind === "file" || !this.may(row && isNew(row.id) ? "add" : "edit")) return false;
    if (!row || !canEditInCell(row, column, kind === "choices" || kind === "link" || kind === "person")) return false;
    this.fault = undefined;
    this.isEntering = true;
    const before = valueAt(row, column);
    this.editing = { id: row.id, index, column, text: typedText(before, language.language), before, isReplaced };
    return true;
  }

  /** The next cell of the row that can be changed, or with -1 the one before: Tab leads there from an input. */
  editBeside(step: 1 | -1): boolean {
    const { row, column } = this.active;
    for (let at = column - 1 + step; at >= 0; at += step) {
      const name = this.columns[at]?.name;
      if (name === undefined) break;
      if (!this.edit(row - 1, name, true)) continue;
      this.moveTo({ row, column: at + 1 });
      return true;
    }
    return false;
  }

  /** The cell after the active one, or with -1 the one before, also in another row. Whether there is one. */
  moveBeside(step: 1 | -1): boolean {
    const { row, column } = this.stop;
    const isInRow = column + step >= 1 && column + step <= this.columns.length;
    const next = isInRow
      ? { row, column: column + step }
      : { row: row + step, column: step === 1 ? 1 : this.columns.length };
    const isThere = next.row >= 1 && next.row <= this.rows.count;
    if (isThere) this.moveTo(next);
    return isThere;
  }

  moveDown(): void {
    const { row, column } = this.stop;
    this.moveTo({ row: Math.min(row + 1, this.rows.count), column });
  }

  type(text: string): void {
    if (this.editing) this.editing = { ...this.editing, text };
  }

  /** Whether something typed is not stored yet. */
  get isUnsaved(): boolean {
    const { editing } = this;
    const isTyped = editing && editing.text !== typedText(editing.before, language.language);
    return isTyped === true || [...this.rows.changed.values()].includes("unsaved");
  }

  leave(): void {
    if (this.editing && isNew(this.editing.id)) this.rows.dropEmpty();
    this.editing = undefined;
    this.fault = undefined;
  }

  /**
   * Stores what was typed and leaves the cell; else, false, the cell says why. The answer holds nobody up: what was typed
   * stays in its cell meanwhile, and what the server refuses is begun again where nothing else is being typed.
   */
  save(): boolean {
    const { editing } = this;
    const row = this.rows.loaded.find(({ id }) => id === editing?.id);
    const column = this.columns.find(({ name }) => name === editing?.column);
    if (!editing || !row || !column) return false;
    const { before } = editing;
    if (editing.text === typedText(before, language.language)) return this.left();
    const result = typedValue(column.type, editing.text, before, language.language);
    if ("mistake" in result) return this.refused(editing, say(result.mistake));
    this.rows.hold(row, column.name, result.value);
    this.rows.save(row.id, column.name, result.value, before).then(
      (saved) => this.stored(saved, { row, column, before }),
      (error: unknown) => this.late(error, editing, { row, column, before }),
    );
    return this.left();
  }

  /** Says what was stored, and offers to take it back. */
  private stored(saved: Row | undefined, { row, column, before }: Change): void {
    if (!saved || isNew(row.id)) return;
    const undo = () =>
      void this.rows
        .save(row.id, column.name, before ?? null, valueAt(saved, column.name))
        .catch((error: unknown) => toasts.fail(error));
    const look = labelled(column);
    const value = shownText(look, valueAt(saved, column.name), reading(this.titles));
    toasts.offerUndo(filledIn(say("cellSaved"), { field: look.label, value: value || "–" }), undo);
  }

  /** What is being typed stays; where it is of the same new record, that is stored together with it. */
  private late(error: unknown, editing: Editing, { row, column, before }: Change): void {
    const id = this.rows.idOf(row.id);
    const isLine = isNew(id);
    if (isLine && this.editing?.id === id) return;
    if (this.editing || !this.isEntering || this.rows.isClosed) {
      this.rows.refused(id, labelled(column).label, refusalOf(error, column.name));
    } else if (!isLine || !this.goOn(error, editing)) {
      // Saved again, it replaces what the cell says.
      const seen = error instanceof ChangedMeanwhile ? error.theirs : before;
      const now = this.rows.loaded.find((one) => one.id === id);
      if (now && !isLine) this.rows.put({ ...now, data: { ...now.data, [column.name]: seen } });
      this.editing = { ...editing, id, before: seen, isReplaced: false };
      this.moveTo({ row: editing.index + 1, column: this.columns.indexOf(column) + 1 });
      this.refused(this.editing, refusalOf(error, column.name));
    }
  }

  /** A new record lacks something else: leads there, and says what. */
  private goOn(error: unknown, { id, index, column: own }: Editing): boolean {
    const errors = error instanceof ApiError && !ownOf(error.errors, own) ? error.errors : {};
    const at = this.columns.findIndex((column) => ownOf(errors, column.name));
    const column = this.columns[at]?.name;
    if (column === undefined || !this.edit(index, column)) return false;
    this.moveTo({ row: index + 1, column: at + 1 });
    this.fault = { id, column, message: ownOf(errors, column)?.join(", ") ?? "" };
    return true;
  }

  private left(): true {
    this.leave();
    return true;
  }

  private refused({ id, column }: Editing, message: string): false {
    this.fault = { id, column, message };
    return false;
  }

  /** The chosen rectangle as a spreadsheet takes it, as far as it is loaded. */
  copied(): string {
    const { row, column, rows, columns } = this.range;
    const names = this.columns.slice(column, column + columns).map(({ name }) => name);
    const there = Array.from({ length: Math.min(rows, mostInBatch) }, (_, at) => this.rows.at(row + at) ?? []).flat();
    const isCut = there.some(({ cut }) => cut && names.some((name) => cut.has(name)));
    if (there.length < rows || isCut) toasts.fail(say("copiedPart"));
    return printTsv(there.map((one) => names.map((name) => typedText(valueAt(one, name), language.language))));
  }

  /** "" clears the chosen cells. */
  async paste(text: string, words: "pasted" | "changedMany" = "pasted"): Promise<void> {
    const { row, column, rows, columns } = this.range;
    const cells = readTsv(text);
    const height = heightOf(cells, { rows });
    if (height > mostInBatch) return toasts.fail(say("tooMany"));
    if (!this.may("edit")) return toasts.fail(say("readOnly"));
    if (this.rows.heads().some((head) => head >= row && head < row + height)) return toasts.fail(say("pasteInGroup"));
    try {
      const there = await this.rows.range(row, row + height);
      const rowAt = (index: number) => there.get(index);
      const onto = {
        columns: this.columns,
        from: { row, column },
        size: { rows, columns },
        rowAt,
        table: this.table,
        language: language.language,
      };
      await this.pasteOnto(paste(cells, onto), words);
    } catch (error) {
      toasts.fail(messageOf(error));
    }
  }

  private async pasteOnto(
    { operations, rows, seen, wrong, leftOut, beyond }: Pasted,
    words: "pasted" | "changedMany",
  ): Promise<void> {
    const [first] = wrong;
    if (first) return this.fail(first.place.row, first.place.column, say(first.mistake));
    if (beyond > 0) return toasts.fail(filledIn(say("pasteBeyond"), { count: String(beyond) }));
    if (operations.length === 0) return leftOut > 0 ? toasts.fail(say("readOnly")) : undefined;
    try {
      const sent = await this.many.send(operations, seen);
      if (!sent) return;
      if (sent.undo.some(({ op }) => op === "delete")) this.rows.refresh();
      const said = filledIn(say(words), { count: String(sent.rows.length) });
      const rest = leftOut > 0 ? ` ${filledIn(say("leftOut"), { count: String(leftOut) })}` : "";
      this.offerUndo(said + rest, [sent]);
    } catch (error) {
      this.failBatch(error, rows);
    }
  }

  /** The same field of many records. */
  async setAll(rows: readonly Row[], field: string, value: unknown): Promise<void> {
    const done: Sent[] = [];
    try {
      for (let at = 0; at < rows.length; at += mostInBatch) {
        const part = rows.slice(at, at + mostInBatch);
        const sent = await this.many.send(
          part.map((row) => update(row, { [field]: value })),
          part,
        );
        if (!sent) break;
        done.push(sent);
      }
    } finally {
      const count = done.reduce((sum, sent) => sum + sent.rows.length, 0);
      if (count > 0) this.offerUndo(filledIn(say("changedMany"), { count: String(count) }), done);
    }
  }

  private offerUndo(words: string, done: readonly Sent[]): void {
    const undo = async () => {
      try {
        for (const { undo: operations, rows } of done) await this.many.send(operations, rows);
        if (done.some((one) => one.undo.some(({ op }) => op === "delete"))) this.rows.refresh();
      } catch (error) {
        toasts.fail(error);
      }
    };
    toasts.offerUndo(words, () => void undo());
  }

  private failBatch(error: unknown, places: readonly number[]): void {
    const [path, messages] = error instanceof ApiError ? (Object.entries(error.errors)[0] ?? []) : [];
    const place = path === undefined ? undefined : placeOfError(path);
    const row = place && places[place.at];
    if (place && row !== undefined) this.fail(row, place.field, (messages ?? []).join(", "));
    else toasts.fail(messageOf(error));
  }

  /** Says at a cell what is wrong with what was to be put there. */
  private fail(index: number, column: string, message: string): void {
    const row = this.rows.at(index);
    // What is wrong with a record as a whole, or with a field that is not shown, has no cell.
    if (row && this.columns.some(({ name }) => name === column)) this.fault = { id: row.id, column, message };
    else toasts.fail(`${column}: ${message}`);
  }
}

function definitionOf(column: Column | undefined): string {
  return JSON.stringify([column?.type, column?.more]);
}
