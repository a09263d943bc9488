/** The people of an account, and moving them in and out of a unit. */
import { get, isMap, nameOf, request } from "studio";
import { everybody } from "../access/tables.svelte.ts";
import { idsOf, membership, type UnitKind } from "./people.ts";

type Row = Readonly<Record<string, unknown>>;

export class Members {
  readonly kind: UnitKind;
  readonly unit: string;
  people = $state.raw<readonly Row[] | undefined>();

  constructor(kind: UnitKind, unit: string) {
    this.kind = kind;
    this.unit = unit;
  }

  async load(): Promise<void> {
    this.people = await everybody();
  }

  get options() {
    return (this.people ?? []).map((person) => ({
      value: String(person["id"]),
      label: `${nameOf(person)} (${String(person["login"])})`,
    }));
  }

  get chosen(): string[] {
    const belong = (this.people ?? []).filter((person) => idsOf(person, this.kind).includes(this.unit));
    return belong.map(({ id }) => String(id));
  }

  /** Reads the person anew: somebody else may have moved them meanwhile. Gives back their name. */
  async move(id: string, belongs: boolean): Promise<string> {
    const path = `/account/users/${id}.json`;
    const { json, headers } = await get(path);
    const user = membership(isMap(json) ? json : {}, this.kind, this.unit, belongs);
    const changed = await request("PATCH", path, { body: { user }, ifMatch: headers.get("etag") ?? undefined });
    const person = isMap(changed.json) ? changed.json : {};
    this.people = (this.people ?? []).map((one) => (String(one["id"]) === id ? person : one));
    return nameOf(person);
  }
}
