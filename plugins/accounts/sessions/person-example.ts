/** A person as the examples of a sign-in show one. */
export const personExample = {
  id: 1,
  login: "admin",
  email: null,
  name: "admin",
  role: "admin",
  active: true,
  privileges: [],
  team_ids: [],
  group_ids: [],
  department_ids: [],
  created_at: "2026-01-31T10:00:00.000Z",
  updated_at: "2026-01-31T10:00:00.000Z",
};
