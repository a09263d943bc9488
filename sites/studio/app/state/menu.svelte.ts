/** The things of the menu by name, read in one request, and again when this tab or somebody else may have changed them. */
import { changePreference } from "../server/preferences.ts";
import { get, onChanged } from "../server/request.ts";
import { arrangementOf, menuPreference, movedTo, ordered, pinned, withPin } from "../frame/things.ts";
import type { Arrangement, Thing, ThingKind } from "../frame/things.ts";
import { toasts } from "./toasts.svelte.ts";

/** How an account shows itself. */
export interface Brand {
  readonly name: string;
  readonly logo: string | null;
  readonly hue: number;
  readonly chroma: number;
}

/** As `/studio/-/frame` answers. */
export interface FrameAnswer {
  readonly brand: Brand;
  readonly things: readonly Thing[];
  readonly unread: number;
  readonly preferences: Readonly<Record<string, unknown>>;
}

export const framePath = "/studio/-/frame.json";
const againMs = 60_000;
/** What the menu shows of: changes of these are seen at once. */
const shown = ["/core/dbs", "/core/apps", "/connect/flows", "/cms/sites", "/core/inbox", "/account/settings"];

class Menu {
  brand = $state.raw<Brand>({ name: "", logo: null, hue: 178, chroma: 0.078 });
  things = $state.raw<readonly Thing[]>([]);
  unread = $state(0);
  preferences = $state.raw<Readonly<Record<string, unknown>>>({});
  arrangement = $state.raw<Arrangement>({ pins: [], order: [] });
  readonly pins = $derived(pinned(this.things, this.arrangement));
  private last: Promise<unknown> = Promise.resolve();
  private timer: ReturnType<typeof setTimeout> | undefined;

  take({ brand, things, unread, preferences }: FrameAnswer): void {
    this.brand = brand;
    this.things = things;
    this.unread = unread;
    this.preferences = preferences;
    this.arrangement = arrangementOf(preferences[menuPreference]);
    const { style } = document.documentElement;
    style.setProperty("--brand-h", String(brand.hue));
    style.setProperty("--brand-c", String(brand.chroma));
  }

  of(kind: ThingKind): Thing[] {
    return ordered(
      this.things.filter((one) => one.kind === kind),
      this.arrangement,
    );
  }

  /** What a thing is called; its code, if the menu does not have it. */
  nameOf(kind: ThingKind, code: string): string {
    return this.things.find((one) => one.kind === kind && one.code === code)?.name ?? code;
  }

  /** Reads again after changes of what it shows, and every minute while somebody looks. */
  follow(): () => void {
    const stop = onChanged((path) => {
      if (!shown.some((one) => path.startsWith(one))) return;
      clearTimeout(this.timer);
      this.timer = setTimeout(() => void this.read(), 300);
    });
    const timer = setInterval(() => document.visibilityState === "visible" && void this.read(), againMs);
    return () => {
      stop();
      clearInterval(timer);
      clearTimeout(this.timer);
    };
  }

  async read(): Promise<void> {
    // The API's own description declares its form. What cannot be read now is read the next time.
    const answer = await get(framePath).catch(() => undefined);
    if (answer) this.take(answer.json as FrameAnswer);
  }

  isPinned(key: string): boolean {
    return this.arrangement.pins.includes(key);
  }

  pin(key: string, isPinned: boolean): void {
    this.change((before) => withPin(before, key, isPinned));
  }

  move(keys: readonly string[], key: string, to: number): void {
    this.change((before) => movedTo(before, keys, key, to));
  }

  /** One request at a time: a later one would overtake an earlier one. */
  private change(make: (before: Arrangement) => Arrangement): void {
    this.arrangement = make(this.arrangement);
    this.last = this.last.then(() =>
      changePreference(menuPreference, (kept) => make(arrangementOf(kept))).catch((error: unknown) =>
        toasts.fail(error),
      ),
    );
  }
}

export const menu = new Menu();
