/** The tiles of the signed-in person. A change is made to what is stored by then: another tab may have changed them too. */
import { changePreference, preference } from "../server/preferences.ts";
import { added, keptTiles, moved, removed, tilesOf, tilesPreference, widened, type Tile } from "../home/tiles.ts";
import { isMap } from "../resources/values.ts";
import { menu } from "./menu.svelte.ts";
import { toasts } from "./toasts.svelte.ts";

export interface TileApp {
  readonly id: string;
  readonly name: string;
  readonly url: string;
  readonly db_code: string | null;
  /** Columns, on the home page of everybody; null: whoever wants it adds it. */
  readonly home_width: number | null;
}

export class Dashboard {
  tiles = $state.raw<readonly Tile[]>([]);
  /** All that may be tiles. */
  apps = $state.raw<readonly TileApp[]>([]);
  private last: Promise<void> = Promise.resolve();
  private newest: Promise<readonly Tile[]> | undefined;
  /** Of those whose table the person may see. */
  private readonly everybodys: readonly Tile[];

  constructor(apps: readonly TileApp[], kept: unknown) {
    this.apps = apps;
    const sees = (code: string | null) => !code || menu.things.some((one) => one.kind === "table" && one.code === code);
    this.everybodys = apps.flatMap(({ id, home_width: width, db_code: code }) =>
      width !== null && sees(code) ? [{ app: id, width }] : [],
    );
    this.tiles = tilesOf(kept, this.everybodys);
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

  add = (app: string): void => this.change((tiles) => added(tiles, app));
  remove = (app: string): void => this.change((tiles) => removed(tiles, app));
  move = (app: string, by: number): void => this.change((tiles) => moved(tiles, app, by));
  widen = (app: string, by: number): void => this.change((tiles) => widened(tiles, app, by));

  /** One request at a time: a later one would overtake an earlier one. */
  private change(make: (tiles: readonly Tile[]) => Tile[]): void {
    this.tiles = make(this.tiles);
    const mine = this.last.then(() => this.save(make));
    this.last = mine.then(
      (tiles) => this.settled(mine, tiles),
      async (error: unknown) => {
        toasts.fail(error);
        this.settled(
          mine,
          await preference(tilesPreference).then(
            (kept) => tilesOf(kept, this.everybodys),
            () => this.tiles,
          ),
        );
      },
    );
    this.newest = mine;
  }

  /** Shows the stored state, unless a further change is on its way. */
  private settled(change: Promise<readonly Tile[]>, tiles: readonly Tile[]): void {
    if (this.newest === change) this.tiles = tiles;
  }

  private async save(make: (tiles: readonly Tile[]) => Tile[]): Promise<readonly Tile[]> {
    const { everybodys } = this;
    const change = (kept: unknown) => keptTiles(make(tilesOf(kept, everybodys)), everybodys);
    return tilesOf(await changePreference(tilesPreference, change), everybodys);
  }
}

/** Puts an app on the home page of the person: in half the width (1) or the whole (2). */
export async function showAtHome(app: string, width: number): Promise<void> {
  const put = (tiles: readonly Tile[]) => widened(added(tiles, app), app, width - 1);
  const next = await changePreference(tilesPreference, (kept) => ({
    ...(isMap(kept) && kept),
    tiles: put(tilesOf(kept)),
  }));
  menu.preferences = { ...menu.preferences, [tilesPreference]: next };
}
