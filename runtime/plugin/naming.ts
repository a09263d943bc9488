/**
 * Records that name others by their code, e.g. a webhook's filter by `db_code`. A plugin says what it has that others
 * may name, and which of its own records name others: so a name that leads nowhere is told when it is saved, and those
 * who lose theirs when a code changes.
 */
import type { Caller } from "../http/auth.ts";
import { list } from "../http/answers/reply.ts";
import { route, type Route } from "../http/route.ts";
import { answer } from "../http/answers/answers.ts";
import { Type } from "@sinclair/typebox";

/** A record as others name it. */
export interface NamedRecord {
  /** E.g. `Core::Db`. */
  readonly model: string;
  /** Its code, its id, or both. */
  readonly keys: readonly string[];
}

export interface Nameable {
  readonly model: string;
  /** E.g. `database`. */
  readonly noun: string;
  /** Whether the account has one of this code or id. */
  readonly exists: (accountId: number, key: string) => Promise<boolean>;
  /** The id of the one with this code or id. */
  readonly idOf?: (accountId: number, key: string) => Promise<string | undefined>;
  /** Whether a person, undefined = nobody, may read all of it, where not everybody with the privilege may. */
  readonly opens?: (accountId: number, key: string, person: Person | undefined) => Promise<boolean>;
  /** Hints about `values` of a mention: what it expects of its records, and they cannot have. */
  readonly hints?: (accountId: number, key: string, values: object) => Promise<readonly string[]>;
}

/** Whose rights are asked. */
export type Person = Pick<Caller, "user" | "privileges" | "within">;

/** A record that names another. */
export interface Use {
  /** E.g. `webhook`. */
  readonly kind: string;
  readonly id: string | number;
  readonly name: string;
  /** Its address in the API. */
  readonly path: string;
}

/** Which of a plugin's records name another one; shown to those who have the privilege. */
export interface Uses {
  readonly privilege: string;
  readonly find: (accountId: number, record: NamedRecord, limit: number) => Promise<readonly Use[]>;
}

/** A place of a record that is saved, e.g. `filter.db_code`, and what it names. */
export interface Mention {
  readonly place: string;
  readonly model: string;
  readonly key: string;
  readonly values?: object;
}

export type Names = Pick<ReturnType<typeof createNames>, "usedBy" | "lost" | "unknown" | "opens" | "idOf">;

const most = 100;

export function createNames() {
  const nameables = new Map<string, Nameable>();
  const all: Uses[] = [];

  const found = (accountId: number, record: NamedRecord) =>
    Promise.all(all.map(async ({ privilege, find }) => ({ privilege, uses: await find(accountId, record, most + 1) })));

  return {
    add({ nameables: own = [], uses }: { nameables?: readonly Nameable[]; uses?: Uses }): void {
      for (const nameable of own) nameables.set(nameable.model, nameable);
      if (uses) all.push(uses);
    },

    async idOf({ model, key }: { model: string; key: string }, accountId: number): Promise<string | undefined> {
      return nameables.get(model)?.idOf?.(accountId, key);
    },

    /** Whether a person may read all of what this names. */
    async opens({ model, key }: { model: string; key: string }, accountId: number, person: Person | undefined) {
      return (await nameables.get(model)?.opens?.(accountId, key, person)) ?? true;
    },

    /** Of what the caller may see, at most 100. */
    async usedBy({ account, privileges }: Caller, record: NamedRecord): Promise<readonly Use[]> {
      const seen = (await found(account.id, record)).filter(({ privilege }) => privileges.has(privilege));
      return seen.flatMap(({ uses }) => uses).slice(0, most);
    },

    /** Hints for the header `Warning` when nothing has these names any more. */
    async lost({ account, privileges }: Caller, record: NamedRecord): Promise<readonly string[]> {
      const code = record.keys[0] ?? "";
      const groups = await found(account.id, record);
      const seen = groups.filter(({ privilege }) => privileges.has(privilege)).flatMap(({ uses }) => uses);
      const isHidden = groups.some(({ privilege, uses }) => !privileges.has(privilege) && uses.length > 0);
      return [
        ...seen.map(({ kind, name }) => `the ${kind} "${name}" names "${code}", which is gone`),
        ...(isHidden ? [`records that you may not see name "${code}", which is gone`] : []),
      ];
    },

    /** A hint for each that names nothing of the account, or expects of it what it cannot have. */
    async unknown(accountId: number, mentions: readonly Mention[]): Promise<readonly string[]> {
      const hints = await Promise.all(
        mentions.map(async ({ place, model, key, values }) => {
          const nameable = nameables.get(model);
          const isThere = !nameable || (await nameable.exists(accountId, key));
          if (isThere) return (values && nameable?.hints?.(accountId, key, values)) ?? [];
          return [`\`${place}\` names no ${nameable.noun} of this account: "${key}"`];
        }),
      );
      return hints.flat();
    },
  };
}

const NamedBy = answer.object("NamedBy", {
  kind: Type.String(),
  id: Type.Union([Type.String(), Type.Integer()]),
  name: Type.String(),
  path: Type.String(),
});

/** `GET /core/apps/:id/used_by`. `recordOf` throws the 404. */
export function usedByRoute(
  names: Names,
  {
    one,
    noun,
    privilege,
  }: { readonly one: `/${string}/:${string}`; readonly noun: string; readonly privilege: string },
  recordOf: (caller: Caller, key: string) => Promise<NamedRecord>,
): Route {
  return route(
    "GET",
    `${one}/used_by`,
    {
      summary: `Where ${noun} is used`,
      description: `Webhooks, crons, flows, apps, databases and records of sites that name it, as far as you may see them; at most ${most}. A name that a template or a program puts together is not found.`,
      access: { privilege },
      answers: { 200: answer.list(NamedBy) },
      responses: { 200: [{ kind: "webhook", id: 3, name: "Core::Record create", path: "/account/webhooks/3.json" }] },
    },
    async ({ caller, params }) => {
      const uses = await names.usedBy(caller, await recordOf(caller, Object.values(params)[0] ?? ""));
      return list([...uses], uses.length);
    },
  );
}
