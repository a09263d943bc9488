import type { StudioPage } from "studio";

const load = () => import("./Connector.svelte");
const privilege = "flows";

export const pages: StudioPage[] = [
  {
    path: "connect/connectors",
    title: { en: "Connectors", pl: "Łączniki", de: "Konnektoren" },
    privilege,
    load: () => import("./Connectors.svelte"),
  },
  {
    path: "connect/connectors/new",
    title: { en: "New connector", pl: "Nowy łącznik", de: "Neuer Konnektor" },
    privilege,
    load,
  },
  {
    path: "connect/connectors/:code",
    title: { en: "Connector", pl: "Łącznik", de: "Konnektor" },
    privilege,
    load,
  },
];
