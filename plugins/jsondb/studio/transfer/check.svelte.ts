/** The rows of an import that cannot be read, and how they were mended. */
import { ApiError, isMap } from "studio";
import { reportOf, rowsIn, type Fault } from "./faults.ts";
import { isTwofold, readCell } from "./preview.ts";
import type { MendedRow } from "./rows.ts";
import { wordsIn } from "./send.ts";
import { importPath, type Source } from "./source.svelte.ts";

/** Larger files are checked when they are imported. */
const mostChecked = 20_000_000;

/** A cell that cannot be read, or that can be read in two ways. */
export interface Problem extends Omit<Fault, "line"> {
  readonly column: string | undefined;
  readonly isDoubt: boolean;
}

interface Found {
  readonly rows: number;
  readonly good: number;
  readonly faults: readonly Fault[];
}

export type Typed = Readonly<Record<string, string>>;

export class Check {
  /** Undefined until it is there. */
  found = $state.raw<Found | undefined>();
  /** What was typed into rows, by fields; and the rows that are right with it. */
  typed = $state.raw<ReadonlyMap<number, Typed>>(new Map());
  mended = $state.raw<ReadonlySet<number>>(new Set());
  /** Columns with doubts that somebody has looked at. */
  settled = $state.raw<readonly string[]>([]);
  private readonly source: Source;
  private readonly changed: () => void;

  constructor(source: Source, changed: () => void) {
    this.source = source;
    this.changed = changed;
  }

  readonly problems: readonly Problem[] = $derived.by(() => {
    const faults = (this.found?.faults ?? []).filter(({ row }) => !this.mended.has(row));
    const wrong = faults.map(({ row, field, message }) => {
      const column = field === null ? undefined : this.source.columnOf(field)?.name;
      return { row, field, message, column, isDoubt: false };
    });
    const doubts = this.source.columns.flatMap(({ name, target, doubtful }) => {
      const first = target === null || this.settled.includes(name) ? undefined : doubtful.find(isTwofold);
      const message = first ? `"${first.value}": ${first.why}` : "";
      return first ? [{ row: first.row, field: target, column: name, message, isDoubt: true }] : [];
    });
    return [...wrong, ...doubts].toSorted((a, b) => a.row - b.row);
  });
  /** How many rows the button imports; undefined of a long file, before it is read. */
  readonly ready: number | undefined = $derived(this.found && this.found.good + this.mended.size);

  clear(): void {
    this.found = undefined;
    [this.typed, this.mended, this.settled] = [new Map(), new Set(), []];
  }

  /** Tries all rows, and those again into which somebody has typed. Answers with words where the server refuses. */
  async run(signal: AbortSignal): Promise<string> {
    const { source } = this;
    const { preview, file } = source;
    this.mended = new Set();
    this.found = undefined;
    if (!file || !preview) return "";
    if (source.db === undefined) {
      const faults = source.faults();
      if (preview.isComplete) this.found = { rows: preview.rows, good: preview.rows - rowsIn(faults).length, faults };
    } else if (file.size <= mostChecked) {
      const sent = () => source.send(importPath(source.db), { dry_run: "true" }, { signal });
      const { json, status } = await sent().catch((error: unknown) => {
        const mayNot = error instanceof ApiError && error.status === 403 && preview.format !== "xlsx";
        if (source.isPlain || !mayNot) throw error;
        source.isPlain = true;
        return sent();
      });
      if (status !== 200 || !isMap(json)) return wordsIn(json, file.name);
      this.found = { rows: Number(json["rows"]), good: Number(json["good"]), faults: faultsIn(json) };
    }
    const wrong = rowsIn(this.found?.faults ?? []);
    await source.read(wrong);
    for (const row of wrong) if (this.typed.has(row)) await this.mend(row);
    return "";
  }

  settle(column: string): void {
    this.settled = [...this.settled, column];
    this.changed();
  }

  /** The fields of a row that are wrong; where the row itself is, all of them. */
  fieldsOf(faults: readonly Pick<Fault, "field">[]): readonly string[] {
    const named = faults.flatMap(({ field }) => (field === null ? [] : [this.fieldOf(field)]));
    return named.length < faults.length ? this.source.fieldNames : [...new Set(named)];
  }

  /** `customer:email`, where the file has that of a link. */
  private fieldOf(field: string): string {
    return this.source.columnOf(field)?.target ?? field;
  }

  valueAt(row: number, field: string): string {
    const column = this.source.columnOf(field)?.name ?? "";
    return this.typed.get(row)?.[this.fieldOf(field)] ?? this.source.rows.get(row)?.cells[column] ?? "";
  }

  type(row: number, field: string, value: string): void {
    this.typed = new Map(this.typed).set(row, { ...this.typed.get(row), [this.fieldOf(field)]: value });
    this.changed();
  }

  /** Tries a row as it was typed: answers with what is still wrong. */
  async mend(row: number): Promise<readonly Fault[]> {
    const { found } = this;
    if (!found) return [];
    const before = found.faults.filter((fault) => fault.row === row);
    const wrong = this.source.db === undefined ? before.filter((fault) => !this.isRead(fault)) : await this.tried(row);
    const faults = found.faults.filter((fault) => fault.row !== row).concat(wrong.length > 0 ? wrong : before);
    this.found = { ...found, faults };
    const others = [...this.mended].filter((one) => one !== row);
    this.mended = new Set(wrong.length > 0 ? others : [...others, row]);
    this.changed();
    return wrong;
  }

  /** A table that is still to be made cannot be asked. */
  private isRead({ row, field }: Fault): boolean {
    const column = this.source.columnOf(field ?? "");
    const value = this.valueAt(row, field ?? "");
    return value === "" || !column || readCell(value, column.type, column.format) !== undefined;
  }

  private async tried(row: number): Promise<Fault[]> {
    const { json, status } = await this.source.sendRows([this.mendedRow(row)], { dry_run: "true" }, {});
    if (status !== 200) throw new ApiError(status, wordsIn(json));
    return faultsIn(json).map((fault) => ({ ...fault, row, line: undefined }));
  }

  mendedRow(row: number): MendedRow {
    return { source: this.source.rows.get(row), typed: this.typed.get(row) ?? {} };
  }
}

const faultsIn = (json: unknown) => reportOf(json)?.faults ?? [];
