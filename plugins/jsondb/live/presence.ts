/** Who has a record open: in the memory of each process, told to the others, and forgotten after a while. behaviour B.7 */
import { isObject, type BaseContext } from "platform";

interface Person {
  readonly id: number;
  readonly name: string;
}

/** The event `present` of a stream. */
export interface Present {
  readonly record_id: string;
  readonly users: readonly Person[];
}

interface Place {
  readonly dbId: string;
  readonly recordId: string;
}

const topic = "jsondb.present";
/** Whoever says nothing for so long has left. */
const keptMs = 45_000;
const mostRecords = 10_000;

/** `tell` is called when somebody came or left. */
export function createPresence(
  { broadcast }: { readonly broadcast: Pick<BaseContext["broadcast"], "publish" | "on"> },
  tell: (dbId: string, present: Present) => void,
  now = Date.now,
) {
  const records = new Map<string, Map<number, { readonly name: string; readonly until: number }>>();

  const usersOf = (key: string): Person[] =>
    [...(records.get(key) ?? [])].flatMap(([id, { name, until }]) => (until > now() ? [{ id, name }] : []));
  const sweep = () => {
    for (const key of records.keys()) if (usersOf(key).length === 0) records.delete(key);
  };
  broadcast.on(topic, (payload) => {
    const told: unknown = JSON.parse(payload);
    if (!isObject(told)) return;
    const { dbId, recordId, id, name, isOpen } = told;
    if (typeof dbId !== "string" || typeof recordId !== "string" || typeof id !== "number") return;
    const key = `${dbId} ${recordId}`;
    const before = usersOf(key);
    if (!records.has(key) && records.size >= mostRecords) sweep();
    if (!records.has(key) && (!isOpen || records.size >= mostRecords)) return;
    const users = records.get(key) ?? new Map();
    if (isOpen) users.set(id, { name: String(name), until: now() + keptMs });
    else users.delete(id);
    records.set(key, users);
    const after = usersOf(key);
    if (after.length === 0) records.delete(key);
    if (before.length !== after.length) tell(dbId, { record_id: recordId, users: after });
  });

  /** Somebody has a record open, or no longer; gives back who has it open. */
  return ({ dbId, recordId }: Place, { id, name }: Person, isOpen: boolean): Person[] => {
    broadcast.publish(topic, JSON.stringify({ dbId, recordId, id, name: name.slice(0, 100), isOpen }));
    return usersOf(`${dbId} ${recordId}`);
  };
}
