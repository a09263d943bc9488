/** The views of a table: shared ones, and one's own. */
import { changePreference, get, preference, request } from "studio";
import { listOfViews, viewPath, viewsPath } from "../paths.ts";
import { bodyOf, savedOf, viewOf, type View } from "./views.ts";

export class Views {
  list = $state.raw<readonly View[]>([]);
  /** Whether it is known which there are. */
  isRead = $state(false);
  private readonly db: string;

  constructor(db: string) {
    this.db = db;
  }

  async load(dbId: string, signal?: AbortSignal): Promise<void> {
    const { json } = await get(listOfViews(this.db), signal);
    this.list = Array.isArray(json) ? json.flatMap(viewOf) : [];
    this.isRead = true;
    await this.moveSaved(dbId, signal);
  }

  /** What the Studio once kept among the preferences becomes views. */
  private async moveSaved(dbId: string, signal?: AbortSignal): Promise<void> {
    const name = `studio.records.${dbId}`;
    const saved = savedOf(await preference(name, signal));
    if (saved.length === 0) return;
    for (const one of saved)
      if (!this.list.some((view) => view.name === one.name))
        await this.make({ name: one.name, kind: "table", ...bodyOf(new URLSearchParams(one.query)) });
    await changePreference(name, () => null);
  }

  async make(view: Readonly<Record<string, unknown>>): Promise<View | undefined> {
    const { json } = await request("POST", viewsPath(this.db), { body: { view } });
    const [made] = viewOf(json);
    if (made) this.list = [...this.list, made];
    return made;
  }

  async change(id: string, view: Readonly<Record<string, unknown>>): Promise<View | undefined> {
    const { json } = await request("PATCH", viewPath(this.db, id), { body: { view } });
    const [changed] = viewOf(json);
    if (changed) this.list = this.list.map((one) => (one.id === id ? changed : one));
    return changed;
  }

  async remove(id: string): Promise<void> {
    await request("DELETE", viewPath(this.db, id));
    this.list = this.list.filter((one) => one.id !== id);
  }
}
