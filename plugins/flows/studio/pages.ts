import type { StudioPage } from "studio";
import { rowsFor } from "./processes/rows.ts";

const privilege = "flows";

export const pages: StudioPage[] = [
  {
    path: "connect/flows/:id",
    title: { en: "Flow", pl: "Przepływ", de: "Ablauf" },
    privilege,
    view: "flows/show",
    load: () => import("./flow/Flow.svelte"),
  },
  {
    path: "connect/flows/new",
    title: { en: "New flow", pl: "Nowy przepływ", de: "Neuer Ablauf" },
    privilege,
    load: () => import("./flow/New.svelte"),
  },
  {
    path: "connect/processes",
    title: { en: "Processes", pl: "Procesy", de: "Vorgänge" },
    privilege,
    first: (_, query) => [rowsFor(query)],
    load: () => import("./processes/Processes.svelte"),
  },
  {
    path: "connect/processes/:id",
    title: { en: "Process", pl: "Proces", de: "Vorgang" },
    privilege,
    view: "flow_processes/show",
    load: () => import("./processes/Process.svelte"),
  },
];
