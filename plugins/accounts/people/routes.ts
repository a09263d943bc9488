import {
  answer,
  created,
  etag,
  expectedVersion,
  field,
  flagOf,
  integerId,
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
import { roles, type Route, type Sql } from "platform";
import { User } from "./answers.ts";
import type { People } from "./people.ts";
import { toApi, type UserFilter, type UserRow, type UserStore } from "./user-store.ts";

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

interface Needed {
  readonly sql: Sql;
  readonly userStore: UserStore;
  readonly people: People;
}

/** People. behaviour B.1. */
export function userRoutes({ sql, userStore, people }: Needed): Route[] {
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
        return pageReply(await userStore.list(caller.account.id, filterOf(query), pageOf(query)), toApi);
      },
    ),
    route(
      "GET",
      "/account/users/:id",
      { summary: "One person", access, answers: { 200: User }, responses: { 200: personExample, 304: null } },
      async ({ caller, params }) => {
        const row = await userStore.byId(sql, caller.account.id, integerId(params.id));
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
      async ({ caller, body }) => created(...shown(await people.create(caller, body))),
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
        return ok(...shown(await people.update(caller, id, body, expectedVersion(request, id))));
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
        await people.delete(caller, id, expectedVersion(request, id));
        return noContent();
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
