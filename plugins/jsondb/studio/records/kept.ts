/**
 * Changes that wait for the server, kept in this browser for their person until it has answered: whoever leaves the page
 * meanwhile loses none. Loaded after the records, because what seals them is large.
 */
import { isMap, KeptDraft, parseJson, same, text, textOf, toasts, words } from "studio";
import { cellText, valueAt, type Row } from "../cells.ts";
import { labelled } from "../look/looks.svelte.ts";
import { recordAddress } from "../paths.ts";
import { say, texts } from "../words.ts";
import type { Grid } from "./grid.svelte.ts";
import { ChangedMeanwhile, isNew, keptKeys, newId, refusalOf, Rows, type FieldChange } from "./rows.svelte.ts";

const most = 200;
const mostChars = 200_000;
/** While it is open, its changes are on their way: no other tab sends them too. */
const tab = crypto.randomUUID();
// Browsers have locks over https alone.
void navigator.locks?.request(tab, () => new Promise(() => {}));
let last = 0;

interface Kept extends FieldChange {
  readonly db: string;
  /** What the record is called. */
  readonly name: string;
  /** Of a new record: what it began with, its table, and the key of its request. */
  readonly data: Row["data"];
  readonly table: string | null;
  readonly key: string;
}

/** Until `stored` is settled. */
export function keep(rows: Rows, change: FieldChange, stored: Promise<unknown>): void {
  const keys = keptKeys();
  const chars = keys.reduce((sum, key) => sum + (localStorage.getItem(key) ?? "").length, 0);
  if (keys.length >= most || chars + JSON.stringify(change).length > mostChars) return;
  const row = rows.loaded.find(({ id }) => id === change.id);
  const making = rows.making.get(change.id);
  const kept: Kept = {
    ...change,
    db: rows.db,
    name: cellText(row && valueAt(row, rows.nameField ?? "")),
    data: (making && row?.data) || {},
    table: row?.table_name ?? null,
    key: making?.key ?? "",
  };
  // In the order of their time.
  const draft = new KeptDraft(`waits ${Date.now()}-${String(++last).padStart(6, "0")} ${tab}`);
  const write = (one: Kept) => draft.keep({ change: JSON.stringify(one) });
  let isOver = false;
  const over = () => {
    isOver = true;
    draft.forget();
  };
  write(kept);
  stored.then(over, over);
  // Then it is a change of the record that the line has become.
  making?.row.then(
    (made) => made && !isOver && write({ ...kept, id: made.id, seen: valueAt(made, change.field) }),
    () => undefined,
  );
}

/** The changes of one field of a record, as one. */
interface Cell extends Kept {
  readonly drafts: readonly KeptDraft[];
  /** A part of them may have arrived. */
  readonly values: readonly unknown[];
}

/** Sends what an earlier page has kept, as if it was changed now: where somebody else was faster, the person is asked. */
export async function sendKept(grid: Grid): Promise<void> {
  const cells = await found();
  if (cells.length === 0) return;
  const lists = new Map([[grid.rows.db, grid.rows]]);
  const met: { readonly cell: Cell; readonly error: ChangedMeanwhile }[] = [];
  let count = 0;
  const send = async (cell: Cell, seen: unknown): Promise<void> => {
    try {
      await listOf(lists, cell).save(cell.id, cell.field, cell.value, seen, true);
      count++;
    } catch (error) {
      if (error instanceof ChangedMeanwhile) {
        if (!same(seen, error.theirs) && cell.values.some((value) => same(value, error.theirs)))
          return send(cell, error.theirs);
        return void met.push({ cell, error });
      }
      refuse(grid, cell, error);
    }
    for (const draft of cell.drafts) draft.drop();
  };
  await Promise.all(cells.map((cell) => send(cell, cell.seen)));
  const both = met.splice(0);
  if (both.length > 0) {
    const asked = both.map(({ cell: { id, field, value }, error: { theirs } }) => ({ id, field, theirs, mine: value }));
    const choice = await grid.many.ask(asked, new Map(both.map(({ error: { now } }) => [now.id, now])));
    // Without an answer they are asked about the next time.
    if (choice === "mine") await Promise.all(both.map(({ cell, error }) => send(cell, error.theirs)));
    if (choice === "theirs") for (const { cell } of both) for (const draft of cell.drafts) draft.drop();
  }
  if (count > 0) toasts.say(text.count(texts().keptSaved, count));
  grid.rows.refresh();
}

/** Those of pages that are closed, by record and field. */
async function found(): Promise<readonly Cell[]> {
  const { held = [] } = (await navigator.locks?.query()) ?? {};
  const open = new Set([tab, ...held.map(({ name }) => name)]);
  const cells = new Map<string, Cell>();
  for (const key of keptKeys()) {
    const place = key.slice(key.indexOf("waits "));
    if (open.has(place.split(" ")[2] ?? "")) continue;
    const draft = new KeptDraft(place);
    const change = changeOf(parseJson(textOf(draft.found?.inputs["change"])));
    if (!change) continue;
    // Lines of several pages have the same ids.
    const id = isNew(change.id) ? `${newId}-${change.key}` : change.id;
    const of = JSON.stringify([change.db, id, change.field]);
    const before = cells.get(of);
    cells.set(of, {
      ...(before ?? change),
      id,
      value: change.value,
      drafts: [...(before?.drafts ?? []), draft],
      values: [...(before?.values ?? []), change.value],
    });
  }
  return [...cells.values()];
}

function changeOf(json: unknown): Kept | undefined {
  if (!isMap(json) || !isMap(json["data"])) return undefined;
  const { db, id, field, value, seen, name, data, table, key } = json;
  const of = { db: textOf(db), id: textOf(id), field: textOf(field), name: textOf(name), key: textOf(key) };
  return { ...of, value, seen, data, table: typeof table === "string" ? table : null };
}

function listOf(lists: Map<string, Rows>, { db, id, data, table, key }: Cell): Rows {
  const of = isNew(id) ? id : db;
  const list = lists.get(of) ?? new Rows(db, new URLSearchParams(), new Map());
  if (isNew(id) && !lists.has(of)) list.begin(data, table, key);
  lists.set(of, list);
  return list;
}

/** Says why, and of which record. */
function refuse(grid: Grid, { db, id, field, value, name }: Cell, error: unknown): void {
  const column = grid.rows.db === db ? grid.columns.find((one) => one.name === field) : undefined;
  const label = column ? labelled(column).label : words(field);
  const of = isNew(id) ? undefined : { name: name || say("record"), address: recordAddress(db, id) };
  toasts.fail(`${label} “${cellText(value)}”: ${refusalOf(error, field)}`, of);
}
