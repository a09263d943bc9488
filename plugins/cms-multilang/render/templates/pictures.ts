/**
 * `{{ "team.jpg" | image: width: 640 }}`: a picture of the account's media. Which pictures a page prints is known when it
 * has been rendered, because a name may be computed: those that were not known are then fetched, and it is rendered again.
 */
import { escapeHtml, type LiquidFilter } from "platform";
import type { Media, PagePicture } from "../../../media/api.ts";
import type { SiteState } from "../door/cache.ts";

export interface Pictures {
  /** Undefined if there is none of this name, or if it is not known yet. */
  find(path: string): PagePicture | undefined;
  /** Fetches what was asked for and is not known; false if there was nothing. */
  fetch(): Promise<boolean>;
}

/** The most names that one rendering may ask for, and how many a site's state keeps. */
const maxAsked = 500;
const maxKnown = 10_000;

/** A change of the account's media gives the site another state. */
const ofStates = new WeakMap<SiteState, Map<string, PagePicture | undefined>>();

export function picturesOf(media: Pick<Media, "picturesOf">, state: SiteState): Pictures {
  let known = ofStates.get(state) ?? new Map<string, PagePicture | undefined>();
  if (known.size > maxKnown) known = new Map();
  ofStates.set(state, known);
  const missing = new Set<string>();
  return {
    find(path) {
      if (!known.has(path) && missing.size < maxAsked) missing.add(path);
      return known.get(path);
    },
    async fetch() {
      if (missing.size === 0) return false;
      const paths = [...missing];
      missing.clear();
      const found = await media.picturesOf(state.account.id, paths);
      for (const path of paths) known.set(path, found.get(path));
      return true;
    },
  };
}

/** Prints nothing for a name that no public picture has. */
export function imageFilter(find: Pictures["find"], locale: string): LiquidFilter {
  return (value, ...given) => {
    const path = typeof value === "string" ? value.normalize("NFC").slice(0, 1300) : "";
    const picture = path === "" ? undefined : find(path.startsWith("/") ? path.slice(1) : path);
    return picture ? tagOf(picture, optionsOf(given), locale) : "";
  };
}

interface Options {
  readonly width?: number;
  readonly sizes?: string;
  readonly class?: string;
  readonly alt?: string;
  readonly loading?: string;
}

/** LiquidJS gives named arguments as pairs. */
function optionsOf(given: readonly unknown[]): Options {
  const named = new Map<string, unknown>();
  for (const pair of given) if (Array.isArray(pair)) named.set(String(pair[0]), pair[1]);
  const width = Number(named.get("width"));
  const text = (name: string) => {
    const value = named.get(name);
    return typeof value === "string" ? { [name]: value } : {};
  };
  return {
    ...(width >= 1 && width <= 10_000 && { width: Math.round(width) }),
    ...text("sizes"),
    ...text("class"),
    ...text("alt"),
    ...text("loading"),
  };
}

function tagOf(picture: PagePicture, options: Options, locale: string): string {
  const { url, smaller, alts } = picture;
  const shown = options.width === undefined ? picture.width : Math.min(options.width, picture.width ?? options.width);
  const best = smaller.find(({ width }) => width >= (shown ?? 0)) ?? smaller.at(-1);
  const attributes: Record<string, string | undefined> = {
    src: best?.url ?? url,
    srcset: smaller.length > 1 ? smaller.map((one) => `${one.url} ${one.width}w`).join(", ") : undefined,
    sizes:
      smaller.length > 1
        ? (options.sizes ?? (shown === null ? "100vw" : `(max-width: ${shown}px) 100vw, ${shown}px`))
        : undefined,
    alt: options.alt ?? alts[locale] ?? "",
    ...dimensionsOf(picture, shown),
    class: options.class,
    loading: options.loading === "eager" ? "eager" : "lazy",
    decoding: "async",
  };
  const written = Object.entries(attributes).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}="${escapeHtml(value)}"`],
  );
  return `<img ${written.join(" ")}>`;
}

/** So that the page does not jump when the picture comes. */
function dimensionsOf({ width, height }: PagePicture, shown: number | null) {
  if (width === null || height === null || shown === null) return {};
  return { width: `${shown}`, height: `${Math.max(1, Math.round((height * shown) / width))}` };
}
