import { answer, list, notFound, ok, pageOf, pageQuery, route, uuidOf, type Route } from "platform";
import { FlowProcess } from "../answers.ts";
import type { Processes } from "./processes.ts";
import type { ProcessViewStore } from "./process-view-store.ts";
import { toListed } from "./show.ts";

const at = "2026-01-31T10:00:00.000Z";
export const processExample = {
  id: "0198c5d2-7a1b-7c3d-8e4f-5a6b7c8d9e11",
  flow_code: "weather-advice",
  status: "finished",
  input: { city: "Kraków" },
  data: { temp: 24, advice: "Take a hat" },
  error: null,
  steps: [
    {
      id: "0",
      type: "connector",
      status: "finished",
      started_at: at,
      finished_at: at,
      output: { main: { temp: 24 } },
      error: null,
    },
  ],
  created_at: at,
  finished_at: at,
};
const failed = { ...processExample, status: "error", data: null, error: "cancelled" };
const access = { privilege: "flows" } as const;
const statuses = ["pending", "finished", "error"];

interface Needed {
  readonly processViewStore: Pick<ProcessViewStore, "list">;
  readonly processes: Processes;
}

/** behaviour B.9. */
export function processRoutes({ processViewStore, processes }: Needed): Route[] {
  return [
    route(
      "GET",
      "/connect/flow_processes",
      {
        summary: "List flow processes, the latest first",
        description:
          "Each with its first hundred steps and previews of outputs above 1,000 characters; a single process has them all.",
        access,
        query: {
          flow_code: "exact value",
          status: statuses.join(", "),
          ...pageQuery,
        },
        answers: { 200: answer.list(FlowProcess) },
        responses: { 200: [processExample] },
      },
      async ({ caller, query }) => {
        const filter = { flowCode: query.get("flow_code") || undefined, status: query.get("status") || undefined };
        const { rows, total } = await processViewStore.list(caller.account.id, filter, pageOf(query));
        return list(rows.map(toListed), total);
      },
    ),
    route(
      "GET",
      "/connect/flow_processes/:id",
      {
        summary: "One flow process with its steps",
        access,
        answers: { 200: FlowProcess },
        responses: { 200: processExample },
      },
      async ({ caller, params }) => {
        const process = await processes.show(caller.account.id, uuidOf(params.id));
        if (!process) throw notFound();
        return ok(process);
      },
    ),
    route(
      "POST",
      "/connect/flow_processes/:id/retry",
      {
        summary: "Continue from the failed step",
        description: "With the program that the process started with. Only after an error (409).",
        access,
        when: { status: ["error"] },
        answers: { 200: FlowProcess },
        responses: { 200: { ...processExample, status: "pending", data: null, finished_at: null } },
      },
      async ({ caller, params }) => {
        return ok(await processes.retry(caller.account.id, uuidOf(params.id)));
      },
    ),
    route(
      "POST",
      "/connect/flow_processes/:id/cancel",
      {
        summary: "Cancel a pending process",
        description: "A call under way is aborted. A process that has ended already is 409.",
        access,
        when: { status: ["pending"] },
        answers: { 200: FlowProcess },
        responses: { 200: failed },
      },
      async ({ caller, params }) => {
        return ok(await processes.cancel(caller.account.id, uuidOf(params.id)));
      },
    ),
  ];
}
