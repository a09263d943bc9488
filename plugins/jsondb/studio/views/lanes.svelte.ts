/** The records of a board: of each value of a field the first ones. */
import { get, messageOf } from "studio";
import { rowOf, type Row } from "../cells.ts";
import type { Look } from "../look/kinds.ts";
import { aggregatePath, recordsPath } from "../paths.ts";
import { groupsIn, type GroupValue } from "../records/groups.ts";
import type { Rows } from "../records/rows.svelte.ts";

const most = 50;
const mostLanes = 24;
const waitMs = 300;

export interface Lane {
  /** Null has the records without a value. */
  readonly value: GroupValue;
  readonly rows: readonly Row[];
  /** Whether there are no more. */
  readonly isAll: boolean;
}

export class Lanes {
  list = $state.raw<readonly Lane[]>([]);
  problem = $state("");
  private readonly rows: Rows;
  private readonly look: Look;
  private values: readonly GroupValue[];
  private readonly stop = new AbortController();
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(rows: Rows, look: Look) {
    this.rows = rows;
    this.look = look;
    this.values = look.choices.map(({ value }) => value);
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
      if (this.look.kind === "person") await this.find();
      const values = [...this.values.slice(0, mostLanes), null];
      this.list = await Promise.all(values.map(async (value) => this.read(value)));
      this.problem = "";
    } catch (error) {
      if (!this.stop.signal.aborted) this.problem = messageOf(error);
    }
  }

  /** Whom records name; those who were found before keep their places. */
  private async find(): Promise<void> {
    const query = new URLSearchParams([
      ...new URLSearchParams(this.rows.matching),
      ["group_by", this.look.name],
      ["limit", "100"],
    ]);
    const { json } = await get(`${aggregatePath(this.rows.db)}?${query}`, this.stop.signal);
    const found = groupsIn(json, this.look).flatMap(([value]) => value ?? []);
    this.values = [...new Set([...this.values, ...found])];
  }

  private async read(value: GroupValue): Promise<Lane> {
    const query = new URLSearchParams(this.rows.query);
    query.append(`filter[${this.look.name}]`, value === null ? "" : String(value));
    query.set("limit", String(most));
    const { json, headers } = await get(`${recordsPath(this.rows.db)}?${query}`, this.stop.signal);
    const rows = Array.isArray(json) ? json.flatMap((one) => rowOf(one) ?? []) : [];
    return { value, rows, isAll: headers.get("x-next-cursor") === null || rows.length < most };
  }

  /** Whether the view still has it. Throws what the server says, or that somebody else has moved the record meanwhile. */
  async move(id: string, from: Lane, to: Lane): Promise<boolean> {
    const saved = await this.rows.save(id, this.look.name, to.value, from.value);
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
