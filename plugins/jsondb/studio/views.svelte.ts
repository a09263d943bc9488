/** Views of a database's records that a person has saved: name and address. They are kept with the account, for this person. */
import { get, isMap, request } from "studio";
import { viewsOf, type View } from "./views.ts";

const path = "/account/me/preferences.json";

export class Views {
  list = $state.raw<readonly View[]>([]);
  private readonly name: string;

  constructor(dbId: string) {
    this.name = `studio.records.${dbId}`;
  }

  async load(signal?: AbortSignal): Promise<void> {
    const { json } = await get(path, signal);
    this.list = viewsOf(isMap(json) ? json[this.name] : undefined);
  }

  /** One of the same name is replaced. */
  async keep(view: View): Promise<void> {
    await this.load(); // another tab may have saved one
    await this.store([...this.list.filter(({ name }) => name !== view.name), view]);
  }

  async remove(name: string): Promise<void> {
    await this.load();
    await this.store(this.list.filter((view) => view.name !== name));
  }

  private async store(list: readonly View[]): Promise<void> {
    await request("PATCH", path, { body: { preferences: { [this.name]: list.length === 0 ? null : list } } });
    this.list = list;
  }
}
