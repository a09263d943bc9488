import type { StudioPage } from "studio";

const privilege = "media";

export const pages: StudioPage[] = [
  {
    path: "core/media",
    title: { en: "Files", pl: "Pliki", de: "Dateien" },
    privilege,
    view: "media/index",
    load: () => import("./Library.svelte"),
  },
  {
    path: "core/media/:id",
    title: { en: "File", pl: "Plik", de: "Datei" },
    privilege,
    load: () => import("./File.svelte"),
  },
];
