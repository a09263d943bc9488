/** A provider by which people of the account may sign in besides a password. behaviour B.17. */
import { column, field, findBy, forbidden, resource, roles, Type, type At, type Role } from "platform";
import type { Change, DraftOf, Mistakes, RowOf, Sql } from "platform";
import type { Accounts } from "../api.ts";
import { backchannelUriOf, redirectUriOf, secretPlace, signedOutUriOf } from "./places.ts";
import { removeIdentities, removeOrigins } from "./store.ts";

const { choice, code, flag, jsonOf, secret, text, texts } = column;

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
    label: ["Name", "Nazwa", "Name"],
    help: [
      "What people call the provider. The button of the sign-in page has this name.",
      "Tak nazywa się dostawca. Ta nazwa jest na przycisku strony logowania.",
      "So heißt der Anbieter. Dieser Name steht auf der Schaltfläche der Anmeldeseite.",
    ],
    body: field.name(100),
    example: "Example ID",
  }),
  code: code({
    label: ["Code", "Kod", "Code"],
    help: [
      "A part of the redirect address: …/login/with/CODE/callback. Made of the name if it is empty.",
      "Część adresu powrotu: …/login/with/KOD/callback. Puste pole: powstaje z nazwy.",
      "Ein Teil der Rückkehradresse: …/login/with/CODE/callback. Leer: wird aus dem Namen gebildet.",
    ],
    body: field.nullable(Type.Union([field.code(), Type.Literal("")])),
    from: "name",
    otherwise: "provider",
    example: "example-id",
  }),
  label: text({
    label: ["Label", "Etykieta", "Beschriftung"],
    help: [
      "Of the button, instead of “Sign in with …”.",
      "Na przycisku, zamiast „Zaloguj się przez …”.",
      "Auf der Schaltfläche, anstelle von „Mit … anmelden“.",
    ],
    body: field.line(100),
    orNull: true,
  }),
  active: flag({
    label: ["Active", "Włączony", "Aktiv"],
    body: field.flag(),
    blank: true,
  }),
  issuer: text({
    label: ["Issuer", "Wystawca", "Aussteller"],
    help: [
      "The provider’s own name, e.g. https://login.example.com. Also the address of its discovery document.",
      "Własna nazwa dostawcy, np. https://login.example.com. Może być też adresem jego dokumentu discovery.",
      "Der eigene Name des Anbieters, z. B. https://login.example.com, oder die Adresse seines Discovery-Dokuments.",
    ],
    body: field.name(500),
    example: "https://login.example.com",
  }),
  client_id: text({
    label: ["Client id", "Identyfikator klienta", "Client-ID"],
    help: [
      "From the provider, where this server is registered as a client.",
      "Od dostawcy, u którego ten serwer jest zarejestrowany jako klient.",
      "Vom Anbieter, bei dem dieser Server als Client registriert ist.",
    ],
    body: field.name(500),
    example: "corestead",
  }),
  client_secret: secret({
    label: ["Client secret", "Sekret klienta", "Client-Geheimnis"],
    help: [
      "From the provider. It is encrypted and never shown. Empty keeps the present one.",
      "Od dostawcy. Jest szyfrowany i nigdy nie jest pokazywany. Puste pole: zostaje obecny.",
      "Vom Anbieter. Es wird verschlüsselt und nie gezeigt. Leer: das jetzige bleibt.",
    ],
    body: field.nullable(Type.String({ maxLength: maxSecretChars, description: "never shown" })),
    place: secretPlace,
    example: "0a1b2c3d4e5f6a7b8c9d",
  }),
  scopes: text({
    label: ["Scopes", "Zakresy", "Scopes"],
    help: [
      "What the provider is asked for; openid is one of them.",
      "O co pytany jest dostawca; musi tu być openid.",
      "Wonach der Anbieter gefragt wird; openid gehört dazu.",
    ],
    body: field.line(1000),
    blank: standardScopes,
  }),
  create_people: flag({
    label: ["Create people", "Dodawanie osób", "Personen anlegen"],
    help: [
      "Adds people at their first sign-in, if their address is verified and of a domain below.",
      "Dodaje osoby przy pierwszym logowaniu, jeśli ich adres jest potwierdzony i z domeny podanej niżej.",
      "Legt Personen bei ihrer ersten Anmeldung an, wenn ihre Adresse bestätigt und von einer Domain unten ist.",
    ],
    body: field.flag(),
    blank: false,
    example: true,
  }),
  email_domains: texts({
    label: ["Email domains", "Domeny e-mail", "E-Mail-Domains"],
    help: [
      "Only people with addresses of these domains come in for the first time. * is every domain.",
      "Tylko osoby z adresami z tych domen wejdą po raz pierwszy. * to każda domena.",
      "Nur Personen mit Adressen dieser Domains kommen zum ersten Mal herein. * ist jede Domain.",
    ],
    body: field.nullable(field.names()),
    blank: [],
    example: ["example.com"],
  }),
  link_by_email: flag({
    label: ["Link by email", "Łączenie po e-mailu", "Über die E-Mail verknüpfen"],
    help: [
      "A person who is here already may sign in by a provider’s account with the same verified address. Only for providers where nobody can take another’s address.",
      "Osoba, która już tu jest, może logować się kontem dostawcy z tym samym potwierdzonym adresem. Tylko dla dostawców, u których nikt nie przejmie cudzego adresu.",
      "Wer schon hier ist, darf sich mit einem Konto des Anbieters anmelden, das dieselbe bestätigte Adresse hat. Nur für Anbieter, bei denen niemand eine fremde Adresse übernehmen kann.",
    ],
    body: field.flag(),
    blank: false,
  }),
  verified_claim: text({
    label: ["Verified claim", "Pole potwierdzenia", "Claim der Bestätigung"],
    help: [
      "What says that an address is verified. Microsoft: xms_edov.",
      "Co mówi, że adres jest potwierdzony. Microsoft: xms_edov.",
      "Was sagt, dass eine Adresse bestätigt ist. Microsoft: xms_edov.",
    ],
    body: field.line(),
    blank: standardClaim,
  }),
  trust_second_factor: flag({
    label: ["Trust second factor", "Zaufanie do drugiego składnika", "Zweitem Faktor vertrauen"],
    help: [
      "The provider asks for a second factor itself, so none is asked for here.",
      "Dostawca sam pyta o drugi składnik, więc tutaj nie jest wymagany.",
      "Der Anbieter fragt selbst nach einem zweiten Faktor, also wird hier keiner verlangt.",
    ],
    body: field.flag(),
    blank: false,
  }),
  sign_out_there: flag({
    label: ["Sign out there", "Wylogowanie także tam", "Auch dort abmelden"],
    help: [
      "People who sign out here are led to the provider, to be signed out there too. If it offers no such page, only the session here ends.",
      "Kto wyloguje się tutaj, trafia do dostawcy, by wylogować się i tam. Jeśli dostawca nie ma takiej strony, kończy się tylko tutejsza sesja.",
      "Wer sich hier abmeldet, kommt zum Anbieter, um sich auch dort abzumelden. Hat dieser keine solche Seite, endet nur die Sitzung hier.",
    ],
    body: field.flag(),
    blank: false,
  }),
  default_role: choice(roles, {
    label: ["Default role", "Domyślna rola", "Standardrolle"],
    help: [
      "Of people whom this provider adds. Empty: nobody without a role by claim comes in.",
      "Dla osób dodanych przez tego dostawcę. Puste pole: bez roli z listy nikt nie wejdzie.",
      "Für Personen, die dieser Anbieter anlegt. Leer: ohne Rolle aus der Liste kommt niemand herein.",
    ],
    choices: {
      admin: ["Administrator", "Administrator", "Administrator"],
      manager: ["Manager", "Menedżer", "Manager"],
      user: ["User", "Użytkownik", "Benutzer"],
      guest: ["Guest", "Gość", "Gast"],
    },
    body: field.nullable(field.oneOf(roles)),
    orNull: true,
    blank: "user",
  }),
  role_claim: text({
    label: ["Role claim", "Pole ról", "Claim der Rollen"],
    help: [
      "What the provider calls the list of groups or roles, e.g. groups or realm_access.roles. Sets the role at each sign-in.",
      "Jak dostawca nazywa listę grup lub ról, np. groups albo realm_access.roles. Rola zmienia się przy każdym logowaniu.",
      "Wie der Anbieter die Liste der Gruppen oder Rollen nennt, z. B. groups oder realm_access.roles. Setzt die Rolle bei jeder Anmeldung.",
    ],
    body: field.line(),
    orNull: true,
    example: "groups",
  }),
  roles: jsonOf(Type.Unsafe<Roles>(Type.Record(Type.String(), field.oneOf(roles))), {
    label: ["Roles", "Role", "Rollen"],
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
    label: ["Team claim", "Pole zespołów", "Claim der Teams"],
    help: [
      "The list that decides on teams, e.g. groups.",
      "Lista, która decyduje o zespołach, np. groups.",
      "Die Liste, die über Teams entscheidet, z. B. groups.",
    ],
    body: field.line(),
    orNull: true,
  }),
  teams: jsonOf(Type.Unsafe<Teams>(Type.Record(Type.String(), Type.Integer())), {
    label: ["Teams", "Zespoły", "Teams"],
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
type Its = Change<typeof fields, "uuid">;
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
      label: ["Back-channel logout", "Back-channel logout", "Back-Channel Logout"],
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
  { tx, given, before, after }: Its,
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
