import { answer, field, list, pageOf, pageQuery, resourceRoutes, route, Type } from "platform";
import { roles, type PluginFacts, type Route } from "platform";
import type { PeopleContext } from "./context.ts";
import { create, update } from "./people.ts";
import { User } from "./person.ts";

/** People. behaviour B.1. */
export function userRoutes(ctx: PeopleContext): Route[] {
  return Object.values(resourceRoutes(User, ctx, { create, change: update }));
}

const Privilege = answer.object("Privilege", {
  name: Type.String(),
  plugin: Type.String(),
  doc: Type.String(),
  roles: answer.list(field.oneOf(roles)),
});

const privilegeExample = {
  name: "dbs",
  plugin: "jsondb",
  doc: "databases and their records",
  roles: ["admin", "manager", "user"],
};

/** `/account/privileges`: what there is to give, so that nobody gives it without knowing what it allows. */
export function privilegeRoutes(plugins: readonly PluginFacts[]): Route[] {
  return [
    route(
      "GET",
      "/account/privileges",
      {
        summary: "List the privileges that plugins declare",
        description: "`doc` says what a privilege allows, and `roles` who has it without being given it.",
        access: { signedIn: "it says what exists, and nothing about people" },
        query: pageQuery,
        answers: { 200: answer.list(Privilege) },
        responses: { 200: [privilegeExample] },
      },
      ({ query }) => {
        const { limit, offset } = pageOf(query);
        const rows = plugins.flatMap(({ name: plugin, privileges }) =>
          privileges.map(({ name, doc, roles: declared }) => {
            const having = roles.filter((role) => role === "admin" || declared.includes(role));
            return { name, plugin, doc, roles: having };
          }),
        );
        return list(rows.slice(offset, offset + limit), rows.length);
      },
    ),
  ];
}
