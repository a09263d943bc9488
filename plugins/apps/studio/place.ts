/** Where an app will appear, by two of its fields, and how its code is shown. Pure. */
import type { CodeLanguage } from "studio";
import { modules } from "../choices.ts";

export interface Placement {
  readonly module: string | undefined;
  readonly view: string | undefined;
  readonly isTile: boolean;
}

export function placeOf(showInModule: unknown, dashboardWidget: unknown): Placement {
  const place = typeof showInModule === "string" ? showInModule.trim() : "";
  const isModule = modules.some((name) => name === place);
  return {
    module: isModule ? place : undefined,
    view: isModule || place === "" ? undefined : place,
    isTile: dashboardWidget === true,
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
