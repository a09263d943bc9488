/** The things of the menu, and what a person has made of their order. Pure. */
import { base } from "../address.ts";
import { icons, type IconName } from "../icons.ts";
import { ownPath } from "../shown.ts";
import { isMap } from "../resources/values.ts";

export type ThingKind = "table" | "app" | "flow" | "site";

/** As `/studio/-/frame` has it. */
export interface Thing {
  readonly kind: ThingKind;
  readonly id: string | number;
  readonly name: string;
  readonly code: string;
  readonly icon: string | null;
  readonly color: string | null;
  /** Runs of a flow that failed lately. */
  readonly failed: number;
}

/** Which list each kind is in, by its path in the API, and how one looks that says nothing of it. */
export const kinds: Readonly<
  Record<ThingKind, { readonly path: string; readonly icon: IconName; readonly at: string }>
> = {
  table: { path: "/core/dbs", icon: "table", at: `${base}/tables` },
  app: { path: "/core/apps", icon: "app", at: `${base}/apps` },
  flow: { path: "/connect/flows", icon: "flow", at: `${base}/flows` },
  site: { path: "/cms/sites", icon: "globe", at: `${base}/sites` },
};

/** `table:019a…`: by its id, as a code may change. */
export function keyOf({ kind, id }: Pick<Thing, "kind" | "id">): string {
  return `${kind}:${id}`;
}

export function addressOfThing({ kind, code, id }: Thing): string {
  return `${kinds[kind].at}/${encodeURIComponent(code || String(id))}`;
}

/** Whose page this is, by which it is found. */
export function thingAt(path: string, things: readonly Thing[]): Thing | undefined {
  return things.find((one) => {
    const own = ownPath(addressOfThing(one)).replace(/\/(?:records|pages)$/, "");
    return path === own || path.startsWith(`${own}/`);
  });
}

export function iconOfThing({ kind, icon }: Pick<Thing, "kind" | "icon">): IconName {
  return Object.keys(icons).find((name): name is IconName => name === icon) ?? kinds[kind].icon;
}

const colors = ["orange", "sky", "teal", "plum", "amber", "indigo", "green", "pink"] as const;

/** Its own colour; else one that its id gives, so that things are told apart from the first day. */
export function colorOfThing({ color, id }: Pick<Thing, "color" | "id">): string {
  if (color !== null) return color;
  let sum = 0;
  for (const sign of String(id)) sum = (sum * 31 + (sign.codePointAt(0) ?? 0)) % 9973;
  return colors[sum % colors.length] ?? "gray";
}

/** The name of the preference. */
export const menuPreference = "studio.menu";
const mostKeys = 300;

export interface Arrangement {
  readonly pins: readonly string[];
  /** Things that have been moved; others come after them, the oldest first. */
  readonly order: readonly string[];
}

/** What a preference says, whatever has been written into it. */
export function arrangementOf(preference: unknown): Arrangement {
  const keys = (name: string) => {
    const given: unknown = isMap(preference) ? preference[name] : undefined;
    const texts = Array.isArray(given) ? given.filter((one) => typeof one === "string") : [];
    return [...new Set(texts)].slice(0, mostKeys);
  };
  return { pins: keys("pins"), order: keys("order") };
}

export function ordered(things: readonly Thing[], { order }: Arrangement): Thing[] {
  const places = new Map(order.map((key, at) => [key, at]));
  const place = (one: Thing) => places.get(keyOf(one)) ?? order.length;
  return things.toSorted((a, b) => place(a) - place(b));
}

export function pinned(things: readonly Thing[], { pins }: Arrangement): Thing[] {
  return pins.flatMap((key) => things.find((one) => keyOf(one) === key) ?? []);
}

export function withPin(arrangement: Arrangement, key: string, isPinned: boolean): Arrangement {
  const others = arrangement.pins.filter((one) => one !== key);
  return { ...arrangement, pins: isPinned ? [...others, key].slice(-mostKeys) : others };
}

/** `keys` are those of its group, in the order that is shown; `to` its place among them. */
export function movedTo(arrangement: Arrangement, keys: readonly string[], key: string, to: number): Arrangement {
  const others = keys.filter((one) => one !== key);
  const place = Math.max(0, Math.min(others.length, to));
  const group = others.toSpliced(place, 0, key);
  return {
    ...arrangement,
    order: [...arrangement.order.filter((one) => !group.includes(one)), ...group].slice(-mostKeys),
  };
}
