import { page, type StudioPage } from "studio/page";

const app = {
  title: { en: "App", pl: "Aplikacja", de: "App" },
  privilege: "apps",
  bar: "own",
  load: () => import("./App.svelte"),
} as const;

export const pages: StudioPage[] = [
  { ...app, path: "core/apps/:id", view: "apps/show" },
  { ...app, path: "core/apps/:id/:part" },
  page("core/apps/new", ["New app", "Nowa aplikacja", "Neue App"], () => import("./New.svelte"), { privilege: "apps" }),
];
