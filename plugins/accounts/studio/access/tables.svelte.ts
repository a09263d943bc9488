/** The tables of the account and who reaches them: read, and changed for one person at a time. */
import { get, isMap, mapsIn, messageOf, ownedBy, request, session } from "studio";
import { tableOf, withOwn, type OwnGrant, type Reader, type Table } from "./reach.ts";

type Row = Readonly<Record<string, unknown>>;

export interface Right {
  readonly name: string;
  readonly plugin: string;
  readonly doc: string;
  readonly roles: readonly string[];
}

export class Tables {
  all = $state.raw<readonly Table[] | undefined>();
  rights = $state.raw<readonly Right[]>([]);
  problem = $state("");

  async load(signal?: AbortSignal): Promise<void> {
    if (!session.may("dbs")) return void (this.all = []);
    try {
      const [dbs, rights] = await Promise.all([
        get("/core/dbs.json?limit=200", signal),
        get("/account/privileges.json", signal),
      ]);
      this.all = mapsIn(dbs.json).map(tableOf);
      this.rights = rights.json as readonly Right[]; // as the API's description declares it
    } catch (error) {
      if (!signal?.aborted) this.problem = messageOf(error);
    }
  }

  readerOf(person: Row): Reader {
    const units = (["team", "department", "group"] as const).flatMap((kind) => {
      const ids = person[`${kind}_ids`];
      return Array.isArray(ids) ? ids.map((id) => `${kind}:${id}`) : [];
    });
    const role = String(person["role"]);
    return { id: Number(person["id"]), role, units, mayUseTables: this.has(person, "dbs") };
  }

  /** By their role, or by name. */
  has({ role, privileges }: Row, right: string): boolean {
    const byRole =
      role === "admin" || this.rights.some(({ name, roles }) => name === right && roles.some((one) => one === role));
    return byRole || (Array.isArray(privileges) && privileges.includes(right));
  }

  /** Reads the list again first: somebody else may have changed it. `people` may use tables by a right of their own. */
  async give(tableId: string, userId: number, grant: OwnGrant | undefined, people: readonly Row[]): Promise<void> {
    const path = `/core/dbs/${tableId}.json`;
    const { json, headers } = await get(path);
    const roles = this.rights.find(({ name }) => name === "dbs")?.roles.filter((role) => role !== "admin") ?? [];
    const byName = people.filter(
      (one) => Array.isArray(one["privileges"]) && one["privileges"].includes("dbs") && one["id"] !== userId,
    );
    const openTo = [...roles.map((role) => `role:${role}`), ...byName.map(({ id }) => `user:${String(id)}`)];
    const { access: before, schema } = tableOf(isMap(json) ? json : {});
    const owned = grant?.own === undefined ? undefined : ownedBy(schema, grant.own);
    const access = withOwn(before, userId, grant, { openTo, value: owned?.value });
    const changed = await request("PATCH", path, {
      body: { db: { access, ...(owned && { schema: owned.schema }) } },
      ifMatch: headers.get("etag") ?? undefined,
    });
    if (!isMap(changed.json)) return;
    const table = tableOf(changed.json);
    this.all = this.all?.map((one) => (one.id === table.id ? table : one));
  }
}

/** All people of the account. */
export async function everybody(): Promise<Row[]> {
  const pageSize = 1000;
  const all: Row[] = [];
  for (let last = pageSize; last === pageSize;) {
    const rows = mapsIn((await get(`/account/users.json?limit=${pageSize}&offset=${all.length}`)).json);
    all.push(...rows);
    last = rows.length;
  }
  return all;
}
