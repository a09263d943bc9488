/**
 * The pictures of the Studio, each one path on a square of 24. `icons.json` says which of lucide's each is, and
 * scripts/studio.ts puts its strokes in the place of that name. Those that `icon` in `definePlugin({ studio })` offers are
 * `studioIcons` (runtime/plugin/studio-pages.ts).
 */
import icons from "./icons.json" with { type: "json" };

export { icons };
export type IconName = keyof typeof icons;
