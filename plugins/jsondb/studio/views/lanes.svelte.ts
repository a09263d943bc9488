/** The records of a board: of each value of a field the first ones. */
import { get, messageOf } from "studio";
import { rowOf, type Row } from "../cells.ts";
import { recordsPath } from "../paths.ts";
import type { Rows } from "../records/rows.svelte.ts";

const most = 50;
const mostLanes = 24;
const waitMs = 300;

export interface Lane {
  /** Null has the records without a value. */
  readonly value: string | number | null;
  readonly rows: readonly Row[];
  /** Whether there are no more. */
  readonly isAll: boolean;
}

export class Lanes {
  list = $state.raw<readonly Lane[]>([]);
  problem = $state("");
  private readonly rows: Rows;
  private readonly field: string;
  private readonly values: readonly (string | number | null)[];
  private readonly stop = new AbortController();
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(rows: Rows, field: string, values: readonly (string | number | null)[]) {
    this.rows = rows;
    this.field = field;
    this.values = values.length > mostLanes ? [...values.slice(0, mostLanes), null] : values;
  }

  /** At first at once, then when changes pause. */
  soon(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.load(), this.list.length === 0 ? 0 : waitMs);
  }

  close(): void {
    clearTimeout(this.timer);
    this.stop.abort();
  }

  private async load(): Promise<void> {
    try {
      this.list = await Promise.all(this.values.map(async (value) => this.read(value)));
      this.problem = "";
    } catch (error) {
      if (!this.stop.signal.aborted) this.problem = messageOf(error);
    }
  }

  private async read(value: string | number | null): Promise<Lane> {
    const query = new URLSearchParams(this.rows.query);
    query.append(`filter[${this.field}]`, value === null ? "" : String(value));
    query.set("limit", String(most));
    const { json, headers } = await get(`${recordsPath(this.rows.db)}?${query}`, this.stop.signal);
    const rows = Array.isArray(json) ? json.flatMap((one) => rowOf(one) ?? []) : [];
    return { value, rows, isAll: headers.get("x-next-cursor") === null || rows.length < most };
  }

  /** Whether the view still has it. Throws what the server says, or that somebody else has moved the record meanwhile. */
  async move(id: string, from: Lane, to: Lane): Promise<boolean> {
    const saved = await this.rows.save(id, this.field, to.value, from.value);
    const row = saved ?? this.list.flatMap(({ rows }) => rows).find((one) => one.id === id);
    this.list = this.list.map((lane) => {
      const others = lane.rows.filter((one) => one.id !== id);
      return { ...lane, rows: row && lane.value === to.value ? [row, ...others] : others };
    });
    this.rows.refresh();
    await this.load();
    const lane = this.list.find(({ value }) => value === to.value);
    return lane?.isAll !== true || lane.rows.some((one) => one.id === id);
  }
}
