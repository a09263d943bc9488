/** What the routes of people and their units answer with. */
import { answer, field, roles, Type } from "platform";

const person = {
  id: Type.Integer(),
  login: Type.String(),
  email: field.nullable(Type.String()),
  name: Type.String(),
  role: field.oneOf(roles),
  active: Type.Boolean(),
  privileges: answer.list(Type.String()),
  team_ids: answer.list(Type.Integer()),
  group_ids: answer.list(Type.Integer()),
  department_ids: answer.list(Type.Integer()),
  created_at: answer.time(),
  updated_at: answer.time(),
};

export const User = answer.object("User", person);

export const Me = answer.object("Me", {
  ...person,
  pending_email: field.nullable(Type.String({ description: "waits for its confirmation; `email` counts until then" })),
  effective_privileges: answer.list(Type.String()),
  account: answer.object("Account", {
    id: Type.Integer(),
    name: Type.String(),
    base_url: Type.String(),
    timezone: Type.String(),
    locale: Type.String(),
  }),
});
