/** A provider by which people of the account may sign in besides a password. behaviour B.17. */
import { column, field, findBy, forbidden, resource, roles, Type, type At, type Role } from "platform";
import type { Change, DraftOf, Mistakes, RowOf, Sql } from "platform";
import type { Accounts } from "../api.ts";
import { roleWords } from "../people/fields.ts";
import { backchannelUriOf, redirectUriOf, secretPlace, signedOutUriOf } from "./places.ts";
import { removeIdentities, removeOrigins } from "./store.ts";

const { choice, code, flag, jsonOf, secret, text, texts, usual } = column;

const maxSecretChars = 10_000;
const mostDomains = 100;
const standardScopes = "openid email profile";
const standardClaim = "email_verified";
const wellKnown = "/.well-known/openid-configuration";
const mapping = <S extends Parameters<typeof Type.Record>[1]>(of: S, description: string) =>
  Type.Record(Type.String({ minLength: 1, maxLength: 255 }), of, { maxProperties: 100, description });
const rolesGiven = mapping(field.oneOf(roles), "{ value of the claim: role }");
const teamsGiven = mapping(field.id(), "{ value of the claim: id of a team }");
type Roles = Readonly<Record<string, Role>>;
type Teams = Readonly<Record<string, number>>;

const fields = {
  name: text({
    ...usual.name,
    help: ["Also on the sign-in button.", "Także na przycisku logowania.", "Auch auf der Anmeldeschaltfläche."],
    body: field.name(100),
    example: "Example ID",
  }),
  code: code({
    label: ["Short name", "Nazwa techniczna", "Technischer Name"],
    help: [
      "A part of the redirect address. Made of the name if it is empty.",
      "Część adresu powrotu. Puste pole: powstaje z nazwy.",
      "Ein Teil der Rückkehradresse. Leer: wird aus dem Namen gebildet.",
    ],
    body: field.nullable(Type.Union([field.code(), Type.Literal("")])),
    from: "name",
    otherwise: "provider",
    example: "example-id",
  }),
  label: text({
    label: ["Text of the button", "Tekst przycisku", "Text der Schaltfläche"],
    help: ["Instead of “Sign in with …”.", "Zamiast „Zaloguj się przez …”.", "Anstelle von „Mit … anmelden“."],
    body: field.line(100),
    orNull: true,
  }),
  active: flag({
    ...usual.active,
    body: field.flag(),
    blank: true,
  }),
  issuer: text({
    label: ["Issuer", "Wystawca", "Aussteller"],
    help: [
      "The provider’s address, such as https://login.example.com, or that of its discovery document.",
      "Adres dostawcy, np. https://login.example.com, albo jego dokumentu discovery.",
      "Die Adresse des Anbieters, z. B. https://login.example.com, oder seines Discovery-Dokuments.",
    ],
    body: field.name(500),
    example: "https://login.example.com",
  }),
  client_id: text({
    label: ["Client ID", "Identyfikator klienta", "Client-ID"],
    help: ["From the provider.", "Od dostawcy.", "Vom Anbieter."],
    body: field.name(500),
    example: "corestead",
  }),
  client_secret: secret({
    label: ["Client secret", "Sekret klienta", "Client-Geheimnis"],
    help: ["Never shown; empty: it stays.", "Niepokazywany; puste: zostaje.", "Wird nie gezeigt; leer: bleibt."],
    body: field.nullable(Type.String({ maxLength: maxSecretChars, description: "never shown" })),
    place: secretPlace,
    example: "0a1b2c3d4e5f6a7b8c9d",
  }),
  scopes: text({
    label: ["Scopes", "Zakresy", "Scopes"],
    help: ["openid must be among them.", "Musi być wśród nich openid.", "openid muss dabei sein."],
    body: field.line(1000),
    blank: standardScopes,
  }),
  create_people: flag({
    label: ["Add people", "Dodawanie osób", "Personen hinzufügen"],
    help: [
      "At their first sign-in, if their address is verified and of a domain below.",
      "Przy pierwszym logowaniu, jeśli ich adres jest potwierdzony i z domeny podanej niżej.",
      "Bei ihrer ersten Anmeldung, wenn ihre Adresse bestätigt und aus einer der Domains unten ist.",
    ],
    body: field.flag(),
    blank: false,
    example: true,
  }),
  email_domains: texts({
    label: ["E-mail domains", "Domeny e-mail", "E-Mail-Domains"],
    help: [
      "Only people with addresses of these domains come in for the first time; * is every domain.",
      "Tylko osoby z adresami z tych domen wejdą po raz pierwszy; * to każda domena.",
      "Nur Personen mit Adressen aus diesen Domains kommen zum ersten Mal herein; * ist jede Domain.",
    ],
    body: field.nullable(field.names()),
    blank: [],
    example: ["example.com"],
  }),
  link_by_email: flag({
    label: ["Link by e-mail", "Łączenie po adresie e-mail", "Über die E-Mail-Adresse verknüpfen"],
    help: [
      "For people who are here already: only if nobody can take another’s address at the provider.",
      "Dla osób, które już tu są: tylko gdy u dostawcy nikt nie przejmie cudzego adresu.",
      "Für Personen, die schon hier sind: nur wenn beim Anbieter niemand eine fremde Adresse übernehmen kann.",
    ],
    body: field.flag(),
    blank: false,
  }),
  verified_claim: text({
    label: ["Proof of the address", "Potwierdzenie adresu", "Bestätigung der Adresse"],
    help: [
      "The claim that says that an address is verified; at Microsoft xms_edov.",
      "Pole (claim), które mówi, że adres jest potwierdzony; u Microsoftu xms_edov.",
      "Der Claim, der sagt, dass eine Adresse bestätigt ist; bei Microsoft xms_edov.",
    ],
    body: field.line(),
    blank: standardClaim,
  }),
  trust_second_factor: flag({
    label: ["Trust its second factor", "Zaufanie do jego drugiego składnika", "Seinem zweiten Faktor vertrauen"],
    help: [
      "The provider asks for a second factor itself, so none is asked for here.",
      "Dostawca sam pyta o drugi składnik, więc tutaj nie jest wymagany.",
      "Der Anbieter fragt selbst nach einem zweiten Faktor, also wird hier keiner verlangt.",
    ],
    body: field.flag(),
    blank: false,
  }),
  sign_out_there: flag({
    label: ["Sign out there too", "Wylogowanie także tam", "Auch dort abmelden"],
    help: [
      "People who sign out here are led to the provider, to sign out there too.",
      "Kto wyloguje się tutaj, trafia do dostawcy, by wylogować się i tam.",
      "Wer sich hier abmeldet, kommt zum Anbieter, um sich auch dort abzumelden.",
    ],
    body: field.flag(),
    blank: false,
  }),
  default_role: choice(roles, {
    label: ["Role without a group", "Rola bez grupy", "Rolle ohne Gruppe"],
    help: [
      "Of people whose groups give none. Empty: they do not come in.",
      "Dla osób, którym nie daje jej żadna grupa. Puste pole: nie wejdą.",
      "Für Personen, denen keine Gruppe eine gibt. Leer: Sie kommen nicht herein.",
    ],
    choices: roleWords,
    body: field.nullable(field.oneOf(roles)),
    orNull: true,
    blank: "user",
  }),
  role_claim: text({
    label: ["Claim with the roles", "Pole z rolami", "Claim mit den Rollen"],
    help: [
      "The provider’s list of groups or roles, such as groups or realm_access.roles.",
      "Lista grup lub ról dostawcy, np. groups albo realm_access.roles.",
      "Die Liste der Gruppen oder Rollen beim Anbieter, z. B. groups oder realm_access.roles.",
    ],
    body: field.line(),
    orNull: true,
    example: "groups",
  }),
  roles: jsonOf(Type.Unsafe<Roles>(Type.Record(Type.String(), field.oneOf(roles))), {
    label: ["Roles of groups", "Role grup", "Rollen der Gruppen"],
    help: [
      'Which group gives which role: { "core-admins": "admin" }',
      'Która grupa daje którą rolę: { "core-admins": "admin" }',
      'Welche Gruppe welche Rolle gibt: { "core-admins": "admin" }',
    ],
    body: field.nullable(Type.Unsafe<Roles>(rolesGiven)),
    blank: {},
    example: { "core-admins": "admin" },
  }),
  team_claim: text({
    label: ["Claim with the teams", "Pole z zespołami", "Claim mit den Teams"],
    help: [
      "The list that decides on teams, e.g. groups.",
      "Lista, która decyduje o zespołach, np. groups.",
      "Die Liste, die über Teams entscheidet, z. B. groups.",
    ],
    body: field.line(),
    orNull: true,
  }),
  teams: jsonOf(Type.Unsafe<Teams>(Type.Record(Type.String(), Type.Integer())), {
    label: ["Teams of groups", "Zespoły grup", "Teams der Gruppen"],
    help: [
      'Which group is which team, by its number: { "sales": 3 }',
      'Która grupa to który zespół, według numeru: { "sales": 3 }',
      'Welche Gruppe welches Team ist, nach seiner Nummer: { "sales": 3 }',
    ],
    body: field.nullable(Type.Unsafe<Teams>(teamsGiven)),
    blank: {},
  }),
};

export type ProviderRow = RowOf<typeof fields, "uuid">;
type ProviderChange = Change<typeof fields, "uuid">;
type Draft = DraftOf<typeof fields>;

export interface ProviderAt extends At {
  readonly accounts: Pick<Accounts, "unitExists">;
}

const onlyAdmins = "only administrators change how people sign in";
const refused = { 403: { error: onlyAdmins } };
const base = "https://core.example.com/login/with/example-id";

export const Provider = resource("sign_in_provider", {
  table: "sign_in_providers",
  path: "/account/sign_in_providers",
  id: "uuid",
  privilege: "sign_in_providers",
  model: "Account::SignInProvider",
  order: "created_at, id",
  fields,
  derived: {
    has_client_secret: { label: ["Has a secret", "Ma sekret", "Hat ein Geheimnis"], schema: Type.Boolean() },
    redirect_uri: {
      label: ["Redirect address", "Adres powrotu", "Rückkehradresse"],
      schema: Type.String({ description: "to be registered at the provider" }),
    },
    post_logout_redirect_uri: {
      label: ["Address after signing out", "Adres po wylogowaniu", "Adresse nach dem Abmelden"],
      schema: Type.String({ description: "to be registered at the provider, for `sign_out_there`" }),
    },
    backchannel_logout_uri: {
      label: ["Address for sign-outs there", "Adres zgłaszania wylogowań", "Adresse für Abmeldungen dort"],
      schema: Type.String({
        description: "may be registered at the provider: it ends the sessions here of who signs out there",
      }),
    },
  },
  derivedInLists: true,
  may: mustBeAdmin,
  check,
  // Subjects are an issuer's: another one may give them to other people.
  async changed(_: ProviderAt, { before, after }, tx) {
    if (!before || !after || before.issuer === after.issuer) return;
    const place = { accountId: after.accountId, providerId: after.id };
    await removeIdentities(tx, place);
    await removeOrigins(tx, place);
  },
  derive: ({ caller: { account } }, row) => ({
    has_client_secret: row.clientSecret !== null,
    redirect_uri: redirectUriOf(account, row.code),
    post_logout_redirect_uri: signedOutUriOf(account, row.code),
    backchannel_logout_uri: backchannelUriOf(account, row.code),
  }),
  example: {
    id: "0198c5d2-7a1b-7c3d-8e4f-5a6b7c8d9e30",
    has_client_secret: true,
    redirect_uri: `${base}/callback`,
    post_logout_redirect_uri: `${base}/signed_out`,
    backchannel_logout_uri: `${base}/backchannel_logout`,
  },
  request: [
    ...(["name", "code", "issuer", "client_id", "client_secret", "create_people", "email_domains"] as const),
    ...(["role_claim", "roles"] as const),
  ],
  change: { active: false },
  docs: {
    list: { summary: "List the providers by which people sign in" },
    get: { summary: "One provider" },
    create: {
      summary: "Let people sign in by a provider",
      description:
        "An OpenID Connect provider. Register `redirect_uri` there; it follows from `code`, which is made of the name by default. Only administrators change providers.",
      refusals: { ...refused, 422: { issuer: ["must begin with https://"] } },
    },
    change: {
      summary: "Change a provider",
      description: "Another `issuer` needs the secret again, and ends the links of people to this provider.",
      refusals: refused,
    },
    delete: { summary: "Delete a provider, with the links of people to it", refusals: refused },
  },
});

/** Somebody who changes a provider could sign in as anybody. */
export function mustBeAdmin({ caller: { user, narrowedTo } }: Pick<At, "caller">): void {
  if (user.role !== "admin" || narrowedTo.length > 0) throw forbidden(onlyAdmins);
}

async function check(
  { accounts, caller }: ProviderAt,
  { tx, given, before, after }: ProviderChange,
  wrong: Mistakes,
): Promise<Draft> {
  const input: Draft = {
    ...after,
    name: after.name.trim(),
    label: after.label?.trim() || null,
    issuer: withoutWellKnown(after.issuer.trim()),
    clientId: after.clientId.trim(),
    scopes: after.scopes.trim() || standardScopes,
    emailDomains: after.emailDomains.map((domain) => domain.trim().toLowerCase()),
    verifiedClaim: after.verifiedClaim.trim() || standardClaim,
    roleClaim: after.roleClaim?.trim() || null,
    teamClaim: after.teamClaim?.trim() || null,
  };
  const { add } = wrong;
  const issuerMistake = mistakeInIssuer(input.issuer);
  if (issuerMistake !== undefined) add("issuer", issuerMistake);
  const scopes = input.scopes.split(" ");
  if (!scopes.includes("openid")) add("scopes", "must name openid");
  if (scopes.some((scope) => /[^\x21\x23-\x5b\x5d-\x7e]/.test(scope)))
    add("scopes", "must be words with one blank between them");
  // Otherwise the secret would be sent to another server than the one it is of.
  if (before?.clientSecret && before.issuer !== input.issuer && given.client_secret === undefined)
    add("client_secret", "must be given again, because the issuer is another one");
  if (input.emailDomains.length > mostDomains) add("email_domains", `may have at most ${mostDomains}`);
  for (const domain of input.emailDomains)
    if (domain !== "*" && !/^[a-z0-9-]+(\.[a-z0-9-]+)*$/.test(domain))
      add("email_domains", `${domain} is not a domain`);
  if (input.createPeople && input.emailDomains.length === 0)
    add("email_domains", "is required with create_people: name domains, or * for every verified address");
  if (input.createPeople && input.defaultRole === null && input.roleClaim === null)
    add("default_role", "is required with create_people, unless role_claim gives the role");
  if (input.roleClaim === null && Object.keys(input.roles).length > 0) add("role_claim", "is required with roles");
  if (input.teamClaim === null && Object.keys(input.teams).length > 0) add("team_claim", "is required with teams");
  for (const id of new Set(Object.values(given.teams ?? {})))
    if (!(await accounts.unitExists(caller.account.id, "team", id, tx))) add("teams", `there is no team ${id}`);
  return input;
}

/** People copy the address of the document from their provider's pages. */
function withoutWellKnown(issuer: string): string {
  return issuer.endsWith(wellKnown) ? issuer.slice(0, -wellKnown.length) : issuer;
}

function mistakeInIssuer(issuer: string): string | undefined {
  const url = URL.parse(issuer);
  if (!url) return "must be the provider's address, e.g. https://login.example.com";
  const isOwnMachine = ["localhost", "127.0.0.1", "[::1]"].includes(url.hostname);
  if (url.protocol !== "https:" && !(url.protocol === "http:" && isOwnMachine)) return "must begin with https://";
  if (url.username || url.password || url.search || url.hash) return "must have no user, query or fragment";
  return undefined;
}

export async function activeByCode(
  sql: Sql,
  accountId: number,
  providerCode: string,
): Promise<ProviderRow | undefined> {
  const row = await findBy(Provider, sql, accountId, { code: providerCode });
  return row?.active ? row : undefined;
}
