/** The tiles of a person's dashboard: which apps, in which order, how wide. Pure. */
import { isMap } from "../resources/values.ts";

export interface Tile {
  /** The app's id. */
  readonly app: string;
  /** Columns, 1 or 2. */
  readonly width: number;
}

/** The name of the preference. */
export const tilesPreference = "studio.dashboard";
export const mostTiles = 40;
const widest = 2;

/** What a preference says, whatever has been written into it, and after it everybody's that the person has not hidden. */
export function tilesOf(preference: unknown, everybodys: readonly Tile[] = []): Tile[] {
  const hidden: unknown = isMap(preference) && preference["hidden"];
  const others = everybodys.filter(({ app }) => !(Array.isArray(hidden) && hidden.includes(app)));
  const given: readonly unknown[] = isMap(preference) && Array.isArray(preference["tiles"]) ? preference["tiles"] : [];
  const tiles = given.flatMap((one) =>
    isMap(one) && typeof one["app"] === "string" ? [{ app: one["app"], width: clamped(one["width"]) }] : [],
  );
  return [...tiles, ...others]
    .filter(({ app }, at, all) => all.findIndex((one) => one.app === app) === at)
    .slice(0, mostTiles);
}

/** What is kept of them: those of everybody that are not among them are hidden. */
export function keptTiles(tiles: readonly Tile[], everybodys: readonly Tile[]): Readonly<Record<string, unknown>> {
  const hidden = everybodys.map(({ app }) => app).filter((app) => !tiles.some((tile) => tile.app === app));
  return { tiles, ...(hidden.length > 0 && { hidden }) };
}

export function added(tiles: readonly Tile[], app: string): Tile[] {
  return tiles.some((tile) => tile.app === app) || tiles.length >= mostTiles
    ? [...tiles]
    : [...tiles, { app, width: 1 }];
}

export function removed(tiles: readonly Tile[], app: string): Tile[] {
  return tiles.filter((tile) => tile.app !== app);
}

/** By so many places; at the ends it stays. */
export function moved(tiles: readonly Tile[], app: string, by: number): Tile[] {
  const from = tiles.findIndex((tile) => tile.app === app);
  const tile = tiles[from];
  if (!tile) return [...tiles];
  const to = Math.max(0, Math.min(tiles.length - 1, from + by));
  return tiles.toSpliced(from, 1).toSpliced(to, 0, tile);
}

export function widened(tiles: readonly Tile[], app: string, by: number): Tile[] {
  return tiles.map((tile) => (tile.app === app ? { ...tile, width: clamped(tile.width + by) } : tile));
}

function clamped(width: unknown): number {
  return typeof width === "number" && Number.isFinite(width) ? Math.max(1, Math.min(widest, Math.round(width))) : 1;
}
