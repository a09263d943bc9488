import type { StudioPage } from "studio";

const load = () => import("./Connector.svelte");
const privilege = "flows";

export const pages: StudioPage[] = [
  {
    path: "connect/connectors",
    title: { en: "Connections", pl: "Połączenia", de: "Verbindungen" },
    privilege,
    load: () => import("./Connectors.svelte"),
  },
  {
    path: "connect/connectors/new",
    title: { en: "New connection", pl: "Nowe połączenie", de: "Neue Verbindung" },
    privilege,
    load,
  },
  {
    path: "connect/connectors/:code",
    title: { en: "Connection", pl: "Połączenie", de: "Verbindung" },
    privilege,
    load,
  },
];
