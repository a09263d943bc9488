import { answer, field, found, list, pageOf, pageQuery, refOf, resourceRoutes, route } from "platform";
import type { ContextOf, Route, TSchema } from "platform";
import { ConnectorMethod } from "./answers.ts";
import { Connector, type ConnectorAt } from "./connector.ts";
import { describedMethods } from "./methods.ts";

/** behaviour B.9: the usual five calls; `:id` is the id or the code. */
export function connectorRoutes(around: ContextOf<ConnectorAt>): Route[] {
  const { kinds } = around;
  // Other plugins add kinds until the server starts: what can be chosen is looked up when it is asked for.
  const forms = {
    fields: {
      kind: (schema: TSchema) => field.from(schema, { values: () => [...kinds.keys()] }),
      fields: (schema: TSchema) =>
        field.by(schema, "kind", () =>
          Object.fromEntries([...kinds].flatMap(([name, { fields }]) => (fields ? [[name, fields]] : []))),
        ),
    },
    needs: () => ([...kinds.values()].every(({ needsUrl }) => needsUrl) ? [["url"]] : []),
  };
  const { list: listing, get, ...others } = resourceRoutes(Connector, around, { forms });
  const methods = route(
    "GET",
    "/connect/connectors/:id/methods",
    {
      summary: "List the methods of a connector",
      description: "Also those that its kind has by itself. `parameters` are the names that a call fills in.",
      access: { privilege: "flows" },
      query: pageQuery,
      answers: { 200: answer.list(ConnectorMethod) },
      responses: { 200: [{ name: "current", description: "Weather now", parameters: ["city"], public: false }] },
    },
    async ({ caller, params, query }) => {
      const { kind, fields } = await found(Connector, { ...around, caller }, refOf(Connector, params.id));
      const all = describedMethods(kinds.get(kind)?.methods(fields) ?? [], fields);
      const { limit, offset } = pageOf(query);
      return list(all.slice(offset, offset + limit), all.length);
    },
  );
  return [listing, get, methods, ...Object.values(others)];
}
