import { pageOf, pageQuery, pageReply, route, answer, type Route } from "platform";
import { FlowVersion } from "../answers.ts";
import type { FlowLookup } from "./flow-lookup.ts";
import type { FlowStore } from "./flow-store.ts";

const example = {
  version: 2,
  program: [{ type: "return", value: { greeting: "Hello {{ input.name }}" } }],
  created_by_id: 1,
  created_at: "2026-01-31T10:00:00.000Z",
};

interface Needed {
  readonly flowStore: Pick<FlowStore, "versions">;
  readonly flowLookup: Pick<FlowLookup, "find">;
}

/** Every change of a program is a version: processes go on with the one that they have started with. */
export function versionRoutes({ flowStore, flowLookup }: Needed): Route[] {
  return [
    route(
      "GET",
      "/connect/flows/:id/versions",
      {
        summary: "List the programs that a flow has had, latest first",
        description: "The first one is the current program. To restore another, save it as `fields.program`.",
        access: { privilege: "flows" },
        query: pageQuery,
        answers: { 200: answer.list(FlowVersion) },
        responses: { 200: [example] },
      },
      async ({ caller, params, query }) => {
        const { id } = await flowLookup.find(caller.account.id, params.id);
        const page = pageOf(query);
        const read = await flowStore.versions(caller.account.id, id, page);
        const rows = read.rows.map(({ program, createdById, createdAt }, at) => ({
          version: read.total - page.offset - at,
          program,
          created_by_id: createdById,
          created_at: createdAt,
        }));
        return pageReply({ ...read, rows }, (row) => row);
      },
    ),
  ];
}
