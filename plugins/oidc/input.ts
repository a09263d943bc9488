/** A provider as it is to be stored, from a request and the stored provider. No SQL, no HTTP. */
import { mistakes, type Role } from "platform";
import type { Accounts } from "../accounts/api.ts";
import type { ProviderInput, ProviderRow } from "./provider-store.ts";

/** The fields of a request; each may be missing. */
export interface ProviderPatch {
  readonly name?: string;
  readonly code?: string | null;
  readonly label?: string | null;
  readonly issuer?: string;
  readonly client_id?: string;
  readonly client_secret?: string | null;
  readonly scopes?: string | null;
  readonly active?: boolean;
  readonly create_people?: boolean;
  readonly email_domains?: readonly string[] | null;
  readonly link_by_email?: boolean;
  readonly verified_claim?: string | null;
  readonly trust_second_factor?: boolean;
  readonly sign_out_there?: boolean;
  readonly default_role?: Role | null;
  readonly role_claim?: string | null;
  readonly roles?: Readonly<Record<string, Role>> | null;
  readonly team_claim?: string | null;
  readonly teams?: Readonly<Record<string, number>> | null;
}

const standardScopes = "openid email profile";
const wellKnown = "/.well-known/openid-configuration";
const mostDomains = 100;

/** With `clientSecret` as given: undefined leaves it as it is. The code is "" if it is to be made of the name. */
export type CheckedProvider = Omit<ProviderInput, "clientSecret"> & {
  readonly clientSecret: string | null | undefined;
};

/** Throws the 422 that names every mistake. */
export async function checkedProvider(
  accounts: Pick<Accounts, "unitExists">,
  accountId: number,
  patch: ProviderPatch,
  before?: ProviderRow,
): Promise<CheckedProvider> {
  const input = merged(patch, before);
  const wrong = mistakes();
  const { add } = wrong;
  const issuerMistake = mistakeInIssuer(input.issuer);
  if (issuerMistake !== undefined) add("issuer", issuerMistake);
  const scopes = input.scopes.split(" ");
  if (!scopes.includes("openid")) add("scopes", "must name openid");
  if (scopes.some((scope) => /[^\x21\x23-\x5b\x5d-\x7e]/.test(scope)))
    add("scopes", "must be words with one blank between them");
  // Otherwise the secret would be sent to another server than the one it is of.
  if (before?.clientSecret && before.issuer !== input.issuer && patch.client_secret === undefined)
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
  for (const id of new Set(Object.values(patch.teams ?? {})))
    if (!(await accounts.unitExists(accountId, "team", id))) add("teams", `there is no team ${id}`);
  wrong.check();
  return input;
}

function merged(patch: ProviderPatch, before?: ProviderRow): CheckedProvider {
  const line = (given: string | null | undefined, stored: string | null | undefined) =>
    (given === undefined ? stored : given?.trim()) || null;
  return {
    name: (patch.name ?? before?.name ?? "").trim(),
    code: patch.code || before?.code || "",
    label: line(patch.label, before?.label),
    issuer: withoutWellKnown((patch.issuer ?? before?.issuer ?? "").trim()),
    clientId: (patch.client_id ?? before?.clientId ?? "").trim(),
    clientSecret: patch.client_secret === "" ? null : patch.client_secret,
    scopes: line(patch.scopes, before?.scopes) ?? standardScopes,
    active: patch.active ?? before?.active ?? true,
    createPeople: patch.create_people ?? before?.createPeople ?? false,
    emailDomains:
      (patch.email_domains === undefined ? before?.emailDomains : patch.email_domains)?.map((domain) =>
        domain.trim().toLowerCase(),
      ) ?? [],
    linkByEmail: patch.link_by_email ?? before?.linkByEmail ?? false,
    verifiedClaim: line(patch.verified_claim, before?.verifiedClaim) ?? "email_verified",
    trustSecondFactor: patch.trust_second_factor ?? before?.trustSecondFactor ?? false,
    signOutThere: patch.sign_out_there ?? before?.signOutThere ?? false,
    defaultRole: patch.default_role === undefined ? (before ? before.defaultRole : "user") : patch.default_role,
    roleClaim: line(patch.role_claim, before?.roleClaim),
    roles: (patch.roles === undefined ? before?.roles : patch.roles) ?? {},
    teamClaim: line(patch.team_claim, before?.teamClaim),
    teams: (patch.teams === undefined ? before?.teams : patch.teams) ?? {},
  };
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
