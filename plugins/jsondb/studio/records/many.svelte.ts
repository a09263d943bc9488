/** Changes of many records in one transaction. Where somebody else was faster, the person is asked. */
import { ApiError, messageOf } from "studio";
import { cellText, valueAt, type Row } from "../cells.ts";
import { meet, staleOf, withTheirs, type Meanwhile } from "./meanwhile.ts";
import { former, update, type PasteOperation } from "../grid.ts";
import type { Rows } from "./rows.svelte.ts";
import { say } from "../words.ts";

/** The server takes no longer request than 10 MB. */
const mostBytes = 9_000_000;
const mostAttempts = 5;

export interface Asked {
  readonly both: readonly Meanwhile[];
  nameOf(id: string): string;
  /** Undefined: nothing is to be changed. */
  answer(choice: "mine" | "theirs" | undefined): void;
}

export interface Sent {
  readonly rows: readonly Row[];
  /** The operations that take it back. */
  readonly undo: readonly PasteOperation[];
}

export class Many {
  asked = $state.raw<Asked | undefined>();
  /** How many records are on their way. */
  working = $state(0);
  private readonly rows: Rows;

  constructor(rows: Rows) {
    this.rows = rows;
  }

  /** `seen` are the records that are changed, as they were when the person decided so. Undefined if they decide otherwise. */
  async send(operations: readonly PasteOperation[], seen: readonly Row[]): Promise<Sent | undefined> {
    const known = new Map(seen.map((row) => [row.id, row]));
    let next = operations;
    for (let attempt = 1; next.length > 0; attempt++) {
      if (new Blob([JSON.stringify(next)]).size > mostBytes) throw new Error(say("tooLarge"));
      try {
        const rows = await this.stored(next);
        return { rows, undo: undoOf(next, rows, known) };
      } catch (error) {
        const stale = error instanceof ApiError && attempt < mostAttempts ? staleOf(error.errors) : [];
        // The places of a refusal are those of what was sent last.
        if (stale.length === 0) throw next.length === operations.length ? error : new Error(messageOf(error));
        const met = await this.meet(next, stale, known);
        if (!met) return undefined;
        next = met;
      }
    }
    return undefined;
  }

  private async stored(operations: readonly PasteOperation[]): Promise<Row[]> {
    this.working += operations.length;
    try {
      return await this.rows.batch(operations);
    } finally {
      this.working -= operations.length;
    }
  }

  private async meet(
    operations: readonly PasteOperation[],
    stale: readonly number[],
    known: Map<string, Row>,
  ): Promise<readonly PasteOperation[] | undefined> {
    const now = await this.rows.now(stale.flatMap((at) => operations[at]?.id ?? []));
    const met = meet(operations, known, now);
    for (const [id, row] of now) known.set(id, row);
    if (met.both.length === 0) return met.operations;
    const choice = await this.ask(met.both, known);
    if (choice === undefined) return undefined;
    return choice === "mine" ? met.operations : withTheirs(met);
  }

  ask(both: readonly Meanwhile[], known: ReadonlyMap<string, Row>): Promise<"mine" | "theirs" | undefined> {
    const nameOf = (id: string) => {
      const row = known.get(id);
      return (row && cellText(valueAt(row, this.rows.nameField ?? "id"))) || id;
    };
    return new Promise((resolve) => {
      const answer = (choice: "mine" | "theirs" | undefined) => {
        this.asked = undefined;
        resolve(choice);
      };
      this.asked = { both, nameOf, answer };
    });
  }
}

function undoOf(
  operations: readonly PasteOperation[],
  rows: readonly Row[],
  before: ReadonlyMap<string, Row>,
): PasteOperation[] {
  return rows.flatMap((row, at): PasteOperation[] => {
    const { op, data = {} } = operations[at] ?? {};
    const old = before.get(row.id);
    if (op === "create") return [{ op: "delete", id: row.id, if_updated_at: row.updated_at }];
    return op === "update" && old ? [update(row, former(old, data))] : [];
  });
}
