/** Records below a head for each value of a field. A group is a list of its own, read only while it is open and seen. */
import { filledIn, get, messageOf, text } from "studio";
import type { Row } from "../cells.ts";
import type { Look } from "../look/kinds.ts";
import { aggregatePath } from "../paths.ts";
import { say } from "../words.ts";
import { filterOf, groupsIn } from "./groups.ts";
import { Rows, type Change } from "./rows.svelte.ts";

const most = 1000;

export class Groups extends Rows {
  private list = $state.raw<readonly Rows[]>([]);
  /** The line of each head, and the one after its last record. */
  private readonly placed = $derived.by(() => {
    let end = 0;
    return this.list.map((part) => ({ part, first: end, end: (end += 1 + (part.isOpen ? part.count : 0)) }));
  });
  private readonly by: () => Look;
  private looked: readonly [number, number] | undefined;

  constructor(db: string, query: URLSearchParams, counts: Map<string, number>, by: () => Look) {
    super(db, query, counts);
    this.by = by;
  }

  private readonly placeOf = (line: number) =>
    line < this.known ? this.placed.findLast(({ first }) => first <= line) : undefined;
  override heads = () => this.placed.map(({ first }) => first);
  override headAt = (line: number) => this.placed.find(({ first }) => first === line)?.part;
  override numberAt = (line: number) => line - (this.placeOf(line)?.first ?? -1);
  override listOf = (id: string): Rows => this.list.find(({ loaded }) => loaded.some((row) => row.id === id)) ?? this;

  protected override get known(): number {
    return this.placed.at(-1)?.end ?? 0;
  }

  override get loaded(): Row[] {
    return [...this.list.flatMap(({ loaded }) => loaded), ...this.added];
  }

  protected override kept(line: number): Row | undefined {
    const { part, first = 0 } = this.placeOf(line) ?? {};
    return line > first ? part?.at(line - first - 1) : undefined;
  }

  override look(first: number, end: number): void {
    const hasBegun = this.looked !== undefined;
    this.looked = [first, end];
    if (!hasBegun) void this.readGroups();
    for (const { part, from, to } of this.partsOf(first, end)) part.look(from, to);
  }

  /** The groups of some lines, and which of their records those are. */
  private partsOf(start: number, end: number) {
    return this.placed.flatMap(({ part, first, end: last }) => {
      const [from, to] = [Math.max(start - first - 1, 0), Math.min(end, last) - first - 1];
      return from < to ? [{ part, above: first + 1, from, to }] : [];
    });
  }

  override async range(start: number, end: number): Promise<ReadonlyMap<number, Row>> {
    const found = new Map<number, Row>();
    for (const { part, from, to, above } of this.partsOf(start, end))
      for (const [at, row] of await part.range(from, to)) found.set(at + above, row);
    return found;
  }

  private async readGroups(): Promise<void> {
    const look = this.by();
    const query = new URLSearchParams([
      ...new URLSearchParams(this.matching),
      ["group_by", look.name],
      ["limit", `${most}`],
    ]);
    this.loading++;
    try {
      const { json } = await get(`${aggregatePath(this.db)}?${query}`, this.stop.signal);
      const found = groupsIn(json, look);
      this.problem = found.length < most ? "" : filledIn(say("mostGroups"), { count: text.number(most) });
      const before = new Map(this.list.map((part) => [part.head?.value, part]));
      this.list = found.map(([value, count]) => {
        const part =
          before.get(value) ??
          new Rows(this.db, new URLSearchParams([...this.query, filterOf(look.name, value)]), new Map());
        // What is read of an open group stays until it is read again; a closed one waits.
        if (before.has(value)) part.refresh(part.isOpen);
        part.head = { look, value };
        part.total = count;
        return part;
      });
      this.total = found.reduce((sum, [, count]) => sum + count, 0);
      this.end = this.total === 0 ? 0 : undefined;
      this.look(...(this.looked ?? [0, 1]));
    } catch (error) {
      if (!this.stop.signal.aborted) this.problem = messageOf(error);
    } finally {
      this.loading--;
    }
  }

  protected override place(row: Row, change: Change | undefined): boolean {
    const isThere = super.place(row, change) || this.list.some((part) => part.put(row, change));
    if (isThere) this.mark([row.id], change);
    return isThere;
  }

  override refresh(): void {
    this.settle();
    void this.readGroups();
  }

  override close(): void {
    super.close();
    for (const part of this.list) part.close();
  }
}
