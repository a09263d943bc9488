/** The app that is open: its form lives on while one goes from part to part, and so does what was said about it. */
import { Editor, isMap, KeptDraft, router, session, textOf } from "studio";
import { valuesOf } from "./actions.ts";
import { addressOfApp, placeOf, type Home, type Placement } from "./place.ts";
import { Talk } from "./talk.svelte.ts";

export class AppEditor extends Editor {
  /** One for all parts of the page. */
  override readonly draft: KeptDraft;
  readonly talk: Talk;

  constructor(key: string) {
    super(session.resource("/core/apps"), [key], false);
    this.draft = new KeptDraft(addressOfApp(key));
    this.talk = new Talk(this, addressOfApp(key));
  }

  text(name: string): string {
    return textOf(this.inputs[name]);
  }

  /** Where it appears, by what the form says. */
  get place(): Placement {
    const fields = valuesOf(this.text("fields"));
    const width = isMap(fields) ? fields["home_width"] : undefined;
    return placeOf(this.text("show_in_module"), this.inputs["dashboard_widget"], width);
  }

  putAtHome(home: Home): void {
    const isTile = home !== "None";
    const home_width = home === "1" || home === "2" ? Number(home) : undefined;
    const fields = { ...valuesOf(this.text("fields")), dashboard_widget: isTile, home_width };
    this.typeIn("dashboard_widget", isTile);
    this.typeIn("fields", JSON.stringify(fields, null, 2));
  }

  get isLive(): boolean {
    return this.record?.["active"] === true;
  }

  /** The number of the version that stands on the server: its ETag ends in it. */
  get version(): number {
    return Number(/(\d{1,15})"?$/.exec(this.tag ?? "")?.[1] ?? 0);
  }

  /** Saves everything as a version, which everybody sees from now on. */
  async publish(): Promise<void> {
    if (!this.isLive) this.typeIn("active", true);
    await this.save();
    const [key] = this.values;
    const code = textOf(this.record?.["url_code"]);
    // It has another address now.
    if (code !== "" && key !== code && key !== this.record?.["id"]) router.go(addressOfApp(code), { replace: true });
  }

  /** A draft is saved as a version of its own; what others see waits for Publish. */
  async keep(): Promise<void> {
    if (!this.isLive) await this.save();
  }

  /** Nobody but those who build apps sees it. */
  async takeOffline(): Promise<void> {
    this.typeIn("active", false);
    await this.save();
  }
}

let kept: { readonly key: string; readonly editor: AppEditor; readonly end: () => void } | undefined;

/** Not part of a component: it outlives the parts of the page. */
export function openApp(key: string): AppEditor {
  if (kept?.key === key) return kept.editor;
  kept?.end();
  let editor: AppEditor | undefined;
  const end = $effect.root(() => {
    editor = new AppEditor(key);
  });
  const made = editor ?? new AppEditor(key);
  kept = { key, editor: made, end };
  return made;
}
