import { page, type StudioPage } from "studio/page";
import { rowsFor } from "./processes/rows.ts";

const privilege = "flows";

export const pages: StudioPage[] = [
  page("connect/flows", ["Flows", "Przepływy", "Abläufe"], () => import("./flow/Flows.svelte"), { privilege }),
  page("connect/flows/:id", ["Flow", "Przepływ", "Ablauf"], () => import("./flow/Flow.svelte"), {
    privilege,
    view: "flows/show",
    bar: "own",
  }),
  page("connect/flows/new", ["New flow", "Nowy przepływ", "Neuer Ablauf"], () => import("./flow/New.svelte"), {
    privilege,
    bar: "own",
  }),
  page("connect/processes", ["Runs", "Uruchomienia", "Durchläufe"], () => import("./processes/Processes.svelte"), {
    privilege,
    first: (_, query) => [rowsFor(query)],
  }),
  page("connect/processes/:id", ["Run", "Uruchomienie", "Durchlauf"], () => import("./processes/Process.svelte"), {
    privilege,
    view: "flow_processes/show",
  }),
];
