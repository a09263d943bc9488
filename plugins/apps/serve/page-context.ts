/** `window.CoreAppContext`: who looks at an app, and where it is embedded. behaviour 2.3. */
import type { Account, User } from "platform";
import type { Accounts, Unit } from "../../accounts/api.ts";
import type { AppContext, ContextUser } from "../client/page-data.ts";

/** Names of teams, groups and departments may be this old; a person's own fields are always current. */
const namesForMs = 30_000;

// The runtime gives the same object for a person until something about them changes.
const known = new WeakMap<User, { readonly user: ContextUser; readonly at: number }>();

export async function contextOf(
  { unitsOf }: Pick<Accounts, "unitsOf">,
  account: Account,
  user: User,
): Promise<ContextUser> {
  const found = known.get(user);
  if (found && Date.now() - found.at < namesForMs) return found.user;
  const isMember = user.teamIds.length + user.groupIds.length + user.departmentIds.length > 0;
  const context = contextUser(user, isMember ? await unitsOf(account.id, user.id) : []);
  known.set(user, { user: context, at: Date.now() });
  return context;
}

function contextUser(user: User, units: readonly Unit[]): ContextUser {
  const of = (kind: Unit["kind"]) => units.filter((unit) => unit.kind === kind);
  const [teams, groups, departments] = [of("team"), of("group"), of("department")];
  return {
    login: user.login,
    email: user.email,
    name: user.name,
    role: user.role,
    team_ids: teams.map(({ id }) => id),
    team_names: teams.map(({ name }) => name),
    group_ids: groups.map(({ id }) => id),
    group_names: groups.map(({ name }) => name),
    department_ids: departments.map(({ id }) => id),
    department_names: departments.map(({ name }) => name),
  };
}

/** A visitor without sign-in. */
export const nobody: ContextUser = {
  login: "",
  email: "",
  name: "",
  role: "guest",
  team_ids: [],
  team_names: [],
  group_ids: [],
  group_names: [],
  department_ids: [],
  department_names: [],
};

type EmbedContext = Pick<AppContext, "embed" | "module" | "view" | "record_id">;

/** Where the embedding page says the app is. Values of the wrong form are left out. */
export function embedOf(query: URLSearchParams): EmbedContext {
  const matching = (name: string, shape: RegExp) => {
    const value = query.get(name);
    return value !== null && shape.test(value) ? value : null;
  };
  return {
    embed: matching("embed", /^(?:1|true|yes)$/) !== null,
    module: matching("module", /^[a-z][a-z0-9_-]{0,39}$/),
    view: matching("view", /^[a-z0-9_-]{1,40}(?:\/[a-z0-9_-]{1,40}){0,3}$/),
    record_id: matching("record_id", /^[\w-]{1,64}$/),
  };
}
