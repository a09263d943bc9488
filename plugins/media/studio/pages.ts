import type { StudioPage } from "studio";

const privilege = "media";

const library = {
  title: { en: "Files", pl: "Pliki", de: "Dateien" },
  privilege,
  view: "media/index",
  load: () => import("./Library.svelte"),
};
const file = {
  title: { en: "File", pl: "Plik", de: "Datei" },
  privilege,
  load: () => import("./File.svelte"),
};

/** One library of the account; a site has it among its pages. */
export const pages: StudioPage[] = [
  { path: "core/media", ...library },
  { path: "core/media/:id", ...file },
  { path: "cms/:site/media", of: "/cms/sites", ...library },
  { path: "cms/:site/media/:id", of: "/cms/sites", ...file },
];
