import type { StudioPage } from "studio";

export const pages: StudioPage[] = [
  {
    path: "core/apps/:id",
    title: { en: "App", pl: "Aplikacja", de: "App" },
    privilege: "apps",
    view: "apps/show",
    load: () => import("./App.svelte"),
  },
  {
    path: "core/apps/new",
    title: { en: "New app", pl: "Nowa aplikacja", de: "Neue App" },
    privilege: "apps",
    load: () => import("./New.svelte"),
  },
];
