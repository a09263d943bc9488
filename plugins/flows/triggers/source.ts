/** What starts flows and is kept by another plugin as rows of its own: seen there, and as triggers of the flow. */
import {
  change,
  checkerOf,
  create,
  erase,
  filter,
  givenFields,
  listRows,
  toApi,
  type Caller,
  type ContextOf,
  type NewOf,
  type Ref,
  type Resource,
  type Shape,
  type Tx,
} from "platform";

type Values = Readonly<Record<string, unknown>>;

/** `id` is the resource's name and the row's id: `cron-7`. */
export interface Trigger extends Values {
  readonly id: string;
  readonly kind: string;
  readonly active: boolean;
}

/** How a change of triggers is written: all of them in one transaction. */
export interface Together {
  readonly transaction: <T>(run: (tx: Tx) => Promise<T>) => Promise<T>;
  readonly committed: (run: () => void | Promise<void>) => Promise<void>;
}

/** What was written, and the hints about it, worked out after the commit. */
export interface WrittenTrigger {
  readonly trigger: Trigger;
  readonly hints: () => Promise<readonly string[]>;
}

/** A change of one trigger: of the one `before`, else a new one; without `given` its deletion. */
export interface TriggerChange {
  readonly caller: Caller;
  readonly flowCode: string;
  readonly before?: Trigger | undefined;
  readonly given?: Values | undefined;
}

export interface TriggerSource {
  readonly privilege: string;
  /** Its kinds, each with the keys that it takes beside `id`, `kind` and `active`. */
  readonly kinds: Readonly<Record<string, readonly string[]>>;
  list(caller: Caller, flowCode: string): Promise<readonly Trigger[]>;
  /**
   * Looks up what the change needs; what it returns writes it, and throws the usual 403, 404 and 422 of the rows. Undefined:
   * they are changed where they belong.
   */
  readonly ready?: (change: TriggerChange) => Promise<(together: Together) => Promise<WrittenTrigger | undefined>>;
}

interface Rules<T extends Shape> {
  readonly kinds: TriggerSource["kinds"];
  /** The fields, which are filters of the list too, by which a row belongs to a flow. */
  readonly of: (flowCode: string) => Readonly<Record<string, string>>;
  /** The row as answers have it -> `kind`, the keys of that kind, and what else is told of it. */
  readonly shown: (row: Values) => Values & { readonly kind: string };
  /** The keys of a trigger -> fields of the row. What is undefined stays as it is. */
  readonly given: (trigger: Values, before: Trigger | undefined) => Values;
  /** What the rules of a change need beside the usual. */
  readonly before?: (at: T["at"], id: number) => Promise<Partial<T["at"]>>;
}

const most = 1000;

/** The rows of a resource as triggers. */
export function triggersOf<T extends Shape & { readonly id: "integer" }>(
  of: Resource<T>,
  context: ContextOf<T["at"]>,
  { kinds, of: belonging, shown, given: fieldsOf, before }: Rules<T>,
): TriggerSource {
  const checks = { create: checkerOf(of.bodies.create), change: checkerOf(of.bodies.change) };
  const atOf = (caller: Caller, more: object = {}) => ({ ...context, ...more, caller }) as unknown as T["at"]; // what `ContextOf` leaves out
  const toTrigger = async (at: T["at"], row: Parameters<NonNullable<typeof of.derive>>[1]): Promise<Trigger> => {
    const value: Values = { ...toApi(of, row), ...(await of.derive?.(at, row)) };
    const { id, active } = value;
    const own = shown(value);
    return { id: `${of.name}-${String(id)}`, ...own, active: active === true, path: `${of.path}/${String(id)}.json` };
  };
  return {
    privilege: of.privilege,
    kinds,
    async list(caller, flowCode) {
      const at = atOf(caller);
      const narrowed = filter.narrowedBy(of.filters ?? {}, at.sql, new URLSearchParams(belonging(flowCode)), caller);
      const { rows } = await listRows(of, at.sql, caller.account.id, narrowed, { limit: most, offset: 0 });
      return Promise.all(rows.map((row) => toTrigger(at, row)));
    },
    async ready({ caller, flowCode, before: stands, given }) {
      const id = stands && Number(stands.id.slice(of.name.length + 1));
      const ref = { id } as Ref<T["id"]>; // an integer
      const more = id === undefined ? {} : await before?.(atOf(caller), id);
      return async (together) => {
        const at = atOf(caller, { ...more, ...together });
        if (!given) {
          if (id !== undefined) await erase(of, at, ref);
          return undefined;
        }
        const all = Object.entries({ ...fieldsOf(given, stands), ...belonging(flowCode), active: given["active"] });
        const body = Object.fromEntries(all.filter(([, value]) => value !== undefined));
        const checked = id === undefined ? checks.create(givenFields(of.bodies.create, body)) : checks.change(body);
        const row =
          id === undefined
            ? await create(of, at, checked as NewOf<T["fields"]>)
            : (await change(of, at, ref, checked)).after;
        return { trigger: await toTrigger(at, row), hints: async () => (await of.hints?.(at, row, checked)) ?? [] };
      };
    },
  };
}
