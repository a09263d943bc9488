/** The tiles of the signed-in person: read once, and saved after each change, the last one wins. */
import { get, request } from "./api.ts";
import { added, moved, removed, tilesOf, tilesPreference, widened, type Tile } from "./tiles.ts";
import { toasts } from "./toasts.svelte.ts";
import { isMap } from "./values.ts";

export interface TileApp {
  readonly id: string;
  readonly name: string;
  readonly url: string;
}

export class Dashboard {
  tiles = $state.raw<readonly Tile[]>([]);
  /** All that may be tiles. */
  apps = $state.raw<readonly TileApp[]>([]);
  private saving = false;
  /** The tiles have changed since the request under way began. */
  private again = false;

  async load(): Promise<void> {
    const [preferences, apps] = await Promise.all([
      get("/account/me/preferences.json"),
      get("/core/tiles.json?limit=1000"),
    ]);
    this.apps = Array.isArray(apps.json) ? apps.json : [];
    this.tiles = tilesOf(isMap(preferences.json) ? preferences.json[tilesPreference] : undefined);
  }

  /** Those whose app is still there. */
  get shown(): { readonly tile: Tile; readonly app: TileApp }[] {
    return this.tiles.flatMap((tile) => {
      const app = this.apps.find(({ id }) => id === tile.app);
      return app ? [{ tile, app }] : [];
    });
  }

  get free(): TileApp[] {
    return this.apps.filter(({ id }) => !this.tiles.some((tile) => tile.app === id));
  }

  add = (app: string): void => this.save(added(this.tiles, app));
  remove = (app: string): void => this.save(removed(this.tiles, app));
  move = (app: string, by: number): void => this.save(moved(this.tiles, app, by));
  widen = (app: string, by: number): void => this.save(widened(this.tiles, app, by));

  /** One request at a time: a later one would overtake an earlier one. */
  private save(tiles: readonly Tile[]): void {
    this.tiles = tiles;
    if (this.saving) return void (this.again = true);
    this.saving = true;
    const body = { preferences: { [tilesPreference]: { tiles } } };
    request("PATCH", "/account/me/preferences.json", { body })
      .catch((error: unknown) => toasts.fail(error))
      .finally(() => {
        this.saving = false;
        const { again } = this;
        this.again = false;
        if (again) this.save(this.tiles);
      });
  }
}
