/** The fields of a person. behaviour B.1. */
import { column, field, roles, Type, type DraftOf, type NewOf, type PatchOf, type RowOf, type ShownOf } from "platform";
import type { Static } from "platform";

export const unitKinds = ["team", "department", "group"] as const;
export type UnitKind = (typeof unitKinds)[number];

export const roleWords = {
  admin: ["Administrator", "Administrator", "Administrator"],
  manager: ["Manager", "Menedżer", "Manager"],
  user: ["User", "Użytkownik", "Benutzer"],
  guest: ["Guest", "Gość", "Gast"],
} as const;

const { choice, flag, ids, text, texts } = column;
const memberOf = (kind: UnitKind) =>
  `array(select n.id from memberships s join units n on n.id = s.unit_id
    where s.user_id = users.id and n.kind = '${kind}' order by n.id)`;
const name = field.name();
const email = field.line();
const password = Type.String({ minLength: 8, maxLength: 1000 });

export const fields = {
  login: text({
    label: ["Login", "Login", "Benutzername"],
    help: ["For signing in.", "Do logowania.", "Zum Anmelden."],
    body: Type.String({
      minLength: 1,
      maxLength: 100,
      pattern: String.raw`^[^\s\x00-\x1f\x7f]+$`,
      description: "without blanks",
    }),
    example: "anna",
  }),
  email: text({ label: ["E-mail", "E-mail", "E-Mail"], body: email, orNull: true, example: "anna@example.com" }),
  /** By default the login. */
  name: text({
    label: ["Name", "Imię i nazwisko", "Name"],
    help: ["Empty: the login.", "Puste pole: login.", "Leer: der Benutzername."],
    body: name,
    blank: "",
    example: "Anna Nowak",
  }),
  role: choice(roles, {
    label: ["Role", "Rola", "Rolle"],
    choices: roleWords,
    blank: "user",
  }),
  active: flag({
    label: ["Active", "Aktywna", "Aktiv"],
    help: ["May sign in.", "Może się logować.", "Darf sich anmelden."],
    body: field.flag(),
    blank: true,
  }),
  privileges: texts({ label: ["Rights", "Uprawnienia", "Berechtigungen"], body: field.names(), blank: [] }),
  /** Hashed before the transaction, because that takes long. */
  password: text({
    label: ["Password", "Hasło", "Passwort"],
    body: password,
    from: "null",
    hidden: true,
    orNull: true,
    example: "a long pass phrase",
  }),
  team_ids: ids({
    label: ["Teams", "Zespoły", "Teams"],
    body: field.ids(),
    from: memberOf("team"),
    blank: [],
    example: [1],
  }),
  group_ids: ids({ label: ["Groups", "Grupy", "Gruppen"], body: field.ids(), from: memberOf("group"), blank: [] }),
  department_ids: ids({
    label: ["Departments", "Działy", "Abteilungen"],
    body: field.ids(),
    from: memberOf("department"),
    blank: [],
  }),
  /** Argon2id; null = no sign-in by password. */
  password_hash: text({ by: "check", hidden: true, orNull: true }),
};

export type UserRow = RowOf<typeof fields, "integer">;
export type UserDraft = DraftOf<typeof fields>;
/** A person as the API shows one. */
export type Person = ShownOf<typeof fields, "integer">;
/** The fields of a request that changes a person; each may be missing. */
export type PersonPatch = PatchOf<typeof fields>;
/** The fields of a new person; all but the login may be missing. */
export type NewPerson = NewOf<typeof fields>;

/** What people may change in their own record. */
export const OwnFields = Type.Partial(
  Type.Object({
    name,
    email,
    password,
    current_password: Type.String({ maxLength: 1000 }),
    pending_email: Type.Null({ description: "gives up the address that waits for its confirmation" }),
  }),
);
export type OwnPatch = Static<typeof OwnFields>;
