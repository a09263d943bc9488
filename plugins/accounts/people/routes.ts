import {
  answer,
  created,
  etag,
  expectedVersion,
  field,
  flagOf,
  integerId,
  list,
  pageReply,
  noContent,
  notFound,
  ok,
  pageOf,
  pageQuery,
  route,
  Type,
  wildcardPattern,
} from "platform";
import { roles, type PluginFacts, type Route } from "platform";
import { personAnswer as User } from "../api.ts";
import type { PeopleContext } from "./context.ts";
import * as people from "./people.ts";
import { byId, listed, toApi, type UserFilter, type UserRow } from "./user-store.ts";

const UserInput = Type.Object({
  login: Type.String({
    minLength: 1,
    maxLength: 100,
    pattern: String.raw`^[^\s\x00-\x1f\x7f]+$`,
    description: "without blanks",
  }),
  email: Type.Optional(field.line()),
  name: Type.Optional(field.name()),
  role: Type.Optional(field.oneOf(roles)),
  active: Type.Optional(field.flag()),
  privileges: Type.Optional(field.names()),
  password: Type.Optional(Type.String({ minLength: 8, maxLength: 1000 })),
  team_ids: Type.Optional(field.ids()),
  group_ids: Type.Optional(field.ids()),
  department_ids: Type.Optional(field.ids()),
});

export const personExample = {
  id: 2,
  login: "anna",
  email: "anna@example.com",
  name: "Anna Nowak",
  role: "user",
  active: true,
  privileges: [],
  team_ids: [1],
  group_ids: [],
  department_ids: [],
  created_at: "2026-01-31T10:00:00.000Z",
  updated_at: "2026-01-31T10:00:00.000Z",
};
const access = { privilege: "users" } as const;

/** People. behaviour B.1. */
export function userRoutes(ctx: PeopleContext): Route[] {
  return [
    route(
      "GET",
      "/account/users",
      {
        summary: "List people",
        access,
        query: {
          q: "searches login, email and name; `*` and `%` are wildcards",
          role: roles.join(", "),
          active: Type.Boolean({ description: "true or false" }),
          team_id: Type.Integer({ description: "members of this team" }),
          department_id: Type.Integer({ description: "members of this department" }),
          group_id: Type.Integer({ description: "members of this group" }),
          ...pageQuery,
        },
        answers: { 200: answer.list(User) },
        responses: { 200: [personExample] },
      },
      async ({ caller, query }) => {
        return pageReply(await listed(ctx.sql, caller.account.id, filterOf(query), pageOf(query)), toApi);
      },
    ),
    route(
      "GET",
      "/account/users/:id",
      { summary: "One person", access, answers: { 200: User }, responses: { 200: personExample, 304: null } },
      async ({ caller, params }) => {
        const row = await byId(ctx.sql, caller.account.id, integerId(params.id));
        if (!row) throw notFound();
        return ok(...shown(row));
      },
    ),
    route(
      "POST",
      "/account/users",
      {
        summary: "Add a person",
        description:
          "The default role is `user`. Without a password the person cannot sign in with one. Nobody can give a role or a " +
          "privilege that they, or their narrowed token, do not have (422).",
        access,
        body: { key: "user", schema: UserInput },
        request: { login: "anna", email: "anna@example.com", name: "Anna Nowak", password: "a long pass phrase" },
        answers: { 201: User },
        responses: { 201: personExample },
      },
      async ({ caller, body }) => created(...shown(await people.create(ctx, caller, body))),
    ),
    route(
      "PATCH",
      "/account/users/:id",
      {
        summary: "Change a person",
        description:
          "A new password ends the person's sessions. The last active administrator cannot lose that role (422).",
        access,
        ifMatch: true,
        body: { key: "user", schema: Type.Partial(UserInput) },
        request: { role: "manager", team_ids: [1] },
        answers: { 200: User },
        responses: { 200: { ...personExample, role: "manager" } },
      },
      async ({ request, caller, params, body }) => {
        const id = integerId(params.id);
        return ok(...shown(await people.update(ctx, caller, id, body, expectedVersion(request, id))));
      },
    ),
    route(
      "DELETE",
      "/account/users/:id",
      {
        summary: "Delete a person with their tokens",
        access,
        ifMatch: true,
        responses: { 204: null, 422: { base: ["this is the last active administrator"] } },
      },
      async ({ request, caller, params }) => {
        const id = integerId(params.id);
        await people.remove(ctx, caller, id, expectedVersion(request, id));
        return noContent();
      },
    ),
  ];
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

function shown(row: UserRow): Parameters<typeof ok> {
  return [toApi(row), { etag: etag(row.id, row.version) }];
}

/** A value that cannot exist matches nobody, like any exact filter. */
function filterOf(query: URLSearchParams): UserFilter {
  const q = query.get("q");
  const unit = query.get("team_id") ?? query.get("department_id") ?? query.get("group_id");
  return {
    q: q ? wildcardPattern(q) : undefined,
    role: query.get("role") || undefined,
    active: flagOf(query, "active"),
    unitId: unit ? (/^\d{1,15}$/.test(unit) ? Number(unit) : 0) : undefined,
  };
}
