import type { StudioPage } from "studio";

const app = {
  title: { en: "App", pl: "Aplikacja", de: "App" },
  privilege: "apps",
  bar: "own",
  load: () => import("./App.svelte"),
} as const;

export const pages: StudioPage[] = [
  { ...app, path: "core/apps/:id", view: "apps/show" },
  { ...app, path: "core/apps/:id/:part" },
  {
    path: "core/apps/new",
    title: { en: "New app", pl: "Nowa aplikacja", de: "Neue App" },
    privilege: "apps",
    load: () => import("./New.svelte"),
  },
];
