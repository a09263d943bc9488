/** The views of a table: shared ones, and one's own. */
import { changePreference, get, preference, request } from "studio";
import { listOfViews, viewPath, viewsPath } from "../paths.ts";
import { bodyOf, queryOf, savedOf, viewOf, type View } from "./views.ts";

export class Views {
  list = $state.raw<readonly View[]>([]);
  /** Whether it is known which there are. */
  isRead = $state(false);
  /** What the person has changed of a view and not saved, by its id: the query of its address. */
  drafts = $state.raw<ReadonlyMap<string, string>>(new Map());
  private readonly db: string;

  constructor(db: string) {
    this.db = db;
  }

  async load(dbId: string, signal?: AbortSignal): Promise<void> {
    const { json } = await get(listOfViews(this.db), signal);
    this.list = Array.isArray(json) ? json.flatMap(viewOf) : [];
    this.isRead = true;
    if (this.list.length > 0) await this.readDrafts();
    await this.moveSaved(dbId, signal);
  }

  private async readDrafts(): Promise<void> {
    const { readDraft } = await import("./drafts.ts");
    for (const { id } of this.list) {
      const query = this.drafts.has(id) ? undefined : readDraft(id);
      if (query !== undefined) this.drafts = new Map([...this.drafts, [id, query]]);
    }
  }

  /** In this browser, until it is saved or reset. */
  keep(id: string, query: string | undefined): void {
    void import("./drafts.ts").then(({ keepDraft }) => keepDraft(id, query));
    const others = [...this.drafts].filter(([one]) => one !== id);
    this.drafts = new Map(query === undefined ? others : [...others, [id, query]]);
  }

  addressOf(view: View): string {
    return this.drafts.get(view.id) ?? String(queryOf(view));
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
