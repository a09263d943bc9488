/** The parts of an app's page, where the app will appear, and how its code is shown. Pure. */
import type { CodeLanguage } from "studio";
import { modules } from "../choices.ts";

export const parts = ["preview", "build", "data", "versions", "settings"] as const;
export type Part = (typeof parts)[number];

export function addressOfApp(key: string, part: Part = "preview"): string {
  return `/studio/core/apps/${encodeURIComponent(key)}${part === "preview" ? "" : `/${part}`}`;
}

export interface Placement {
  readonly module: string | undefined;
  readonly view: string | undefined;
  readonly home: Home;
}

/** Nobody's home page, that of who adds the app, or everybody's, in so many columns. */
export const homes = ["None", "Own", "1", "2"] as const;
export type Home = (typeof homes)[number];

/** `homeWidth`: that in the app's `fields`. */
export function placeOf(showInModule: unknown, dashboardWidget: unknown, homeWidth?: unknown): Placement {
  const place = typeof showInModule === "string" ? showInModule.trim() : "";
  const isModule = modules.some((name) => name === place);
  return {
    module: isModule ? place : undefined,
    view: isModule || place === "" ? undefined : place,
    home: dashboardWidget !== true ? "None" : (homes.find((one) => one === String(homeWidth)) ?? "Own"),
  };
}

interface MenuEntry {
  readonly id: string;
  readonly name: string;
  readonly url_code: string;
}

/** Whether the menu, with its apps by module, shows the app as it is stored. */
export function isInMenu(
  { id, name, url_code: urlCode, show_in_module: place, active }: Readonly<Record<string, unknown>>,
  apps: Readonly<Record<string, readonly MenuEntry[]>>,
): boolean {
  const { module } = placeOf(active === true ? place : null, false);
  const shown = Object.entries(apps).flatMap(([where, entries]) =>
    entries.filter((entry) => entry.id === id).map((entry) => ({ where, ...entry })),
  );
  const [only] = shown;
  if (module === undefined) return shown.length === 0;
  return only?.where === module && only.name === name && only.url_code === urlCode;
}

const languages: Readonly<Record<string, CodeLanguage>> = {
  svelte: "svelte",
  vue: "vue",
  react: "tsx",
  js: "javascript",
  html: "html",
  kaboom: "typescript",
  phaser: "typescript",
};

export function languageOfEngine(engine: unknown): CodeLanguage {
  return (typeof engine === "string" ? languages[engine] : undefined) ?? "svelte";
}

/** What visitors may do with a table by its public methods; two methods that say the same to a person are one. */
export const may = ["look", "search", "create", "update", "delete"] as const;

export function visitorsMay(publicMethods: unknown, what: (typeof may)[number]): boolean {
  if (typeof publicMethods !== "object" || publicMethods === null) return false;
  const names = what === "look" ? ["list", "get"] : [what];
  return names.some((name) =>
    Object.entries(publicMethods).some(([key, value]) => key === name && value !== null && value !== false),
  );
}
