/** Where an app will appear, by two of its fields, and how its code is shown. Pure. */
import type { CodeLanguage } from "studio";
import { modules } from "../places.ts";

export interface Place {
  readonly module: string | undefined;
  readonly view: string | undefined;
  readonly isTile: boolean;
}

export function placeOf(showInModule: unknown, dashboardWidget: unknown): Place {
  const place = typeof showInModule === "string" ? showInModule.trim() : "";
  const isModule = modules.some((name) => name === place);
  return {
    module: isModule ? place : undefined,
    view: isModule || place === "" ? undefined : place,
    isTile: dashboardWidget === true,
  };
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
