import { page, type StudioPage } from "studio/page";

const load = () => import("./Connector.svelte");
const privilege = "flows";

export const pages: StudioPage[] = [
  page("connect/connectors", ["Connections", "Połączenia", "Verbindungen"], () => import("./Connectors.svelte"), {
    privilege,
  }),
  page("connect/connectors/new", ["New connection", "Nowe połączenie", "Neue Verbindung"], load, { privilege }),
  page("connect/connectors/:code", ["Connection", "Połączenie", "Verbindung"], load, { privilege }),
];
