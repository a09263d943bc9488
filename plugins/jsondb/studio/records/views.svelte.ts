/** Views of a database's records that a person has saved: name and address. They are kept with the account, for this person. */
import { changePreference, preference } from "studio";
import { viewsOf, type View } from "./views.ts";

export class Views {
  list = $state.raw<readonly View[]>([]);
  private readonly name: string;

  constructor(dbId: string) {
    this.name = `studio.records.${dbId}`;
  }

  async load(signal?: AbortSignal): Promise<void> {
    this.list = viewsOf(await preference(this.name, signal));
  }

  /** One of the same name is replaced. */
  async keep(view: View): Promise<void> {
    await this.change((views) => [...views.filter(({ name }) => name !== view.name), view]);
  }

  async remove(name: string): Promise<void> {
    await this.change((views) => views.filter((view) => view.name !== name));
  }

  private async change(make: (views: readonly View[]) => View[]): Promise<void> {
    const kept = await changePreference(this.name, (before) => {
      const views = make(viewsOf(before));
      return views.length === 0 ? null : views;
    });
    this.list = viewsOf(kept);
  }
}
