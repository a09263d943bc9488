import { answer, list, pageOf, pageQuery, route, type Route } from "platform";
import { StepTypeAnswer } from "./answers.ts";
import type { StepTypes } from "./program/step-types.ts";

const example = {
  type: "shopping-list.notify",
  doc: "notifies everyone on a list that something was bought",
  params: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  privilege: "shopping_list",
};

/** The step types that plugins add. */
export function stepRoutes(types: StepTypes): Route[] {
  return [
    route(
      "GET",
      "/connect/flow_steps",
      {
        summary: "List the step types that plugins add to flows",
        description: "`params` is a JSON Schema; saving a flow with such a step needs its `privilege`.",
        access: { privilege: "flows" },
        query: pageQuery,
        answers: { 200: answer.list(StepTypeAnswer) },
        responses: { 200: [example] },
      },
      async ({ query }) => {
        const { limit, offset } = pageOf(query);
        const all = [...types.values()].toSorted((a, b) => (a.type < b.type ? -1 : 1));
        const shown = all.map(({ type, doc, params, privilege = null }) => ({ type, doc, params, privilege }));
        return list(shown.slice(offset, offset + limit), shown.length);
      },
    ),
  ];
}
