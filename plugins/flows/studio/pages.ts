import type { StudioPage } from "studio";
import { rowsFor } from "./processes/rows.ts";

const privilege = "flows";

export const pages: StudioPage[] = [
  {
    path: "connect/flows",
    title: { en: "Flows", pl: "Przepływy", de: "Abläufe" },
    privilege,
    load: () => import("./flow/Flows.svelte"),
  },
  {
    path: "connect/flows/:id",
    title: { en: "Flow", pl: "Przepływ", de: "Ablauf" },
    privilege,
    view: "flows/show",
    bar: "own",
    load: () => import("./flow/Flow.svelte"),
  },
  {
    path: "connect/flows/new",
    title: { en: "New flow", pl: "Nowy przepływ", de: "Neuer Ablauf" },
    privilege,
    bar: "own",
    load: () => import("./flow/New.svelte"),
  },
  {
    path: "connect/processes",
    title: { en: "Runs", pl: "Uruchomienia", de: "Durchläufe" },
    privilege,
    first: (_, query) => [rowsFor(query)],
    load: () => import("./processes/Processes.svelte"),
  },
  {
    path: "connect/processes/:id",
    title: { en: "Run", pl: "Uruchomienie", de: "Durchlauf" },
    privilege,
    view: "flow_processes/show",
    load: () => import("./processes/Process.svelte"),
  },
];
