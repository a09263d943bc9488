/** Whom somebody with a proof of a provider is here: found, linked, made, or refused. No HTTP, no SQL. */
import { HttpError, ValidationError, type Account, type Role, type Tx } from "platform";
import { timeIn } from "../../mail/api.ts";
import { isSameAddress, type Person } from "../api.ts";
import type { OidcContext } from "./context.ts";
import type { Proof } from "./peer.ts";
import type { ProviderRow } from "./provider.ts";
import { Refusal } from "./refusal.ts";
import { isOfDomain, isPlain, nameOf, roleOf, teamsOf, verifiedEmail, type Claims } from "./rules.ts";
import { addIdentity, removeOtherIdentities, useIdentity } from "./store.ts";

const maxSubjectChars = 255;

/** Somebody whom a provider proves and nobody here knows by it. */
interface NewUser {
  readonly account: Account;
  readonly provider: ProviderRow;
  readonly proof: Proof;
}

/** The id of the person. Throws a Refusal. */
export async function personOf(
  ctx: OidcContext,
  account: Account,
  provider: ProviderRow,
  proof: Proof,
  invitation: string | null,
): Promise<number> {
  if (proof.subject.length > maxSubjectChars || !isPlain(proof.subject) || !isPlain(proof.issuer))
    throw new Refusal("wrong");
  const userId =
    invitation === null
      ? ((await useIdentity(ctx.sql, placeOf(provider), proof)) ?? (await admit(ctx, { account, provider, proof })))
      : await invited(ctx, account, provider, proof, invitation);
  const person = await ctx.accounts.person(provider.accountId, userId);
  if (!person?.active) throw new Refusal("switchedOff", userId);
  await follow(ctx, provider, proof.claims, person);
  return userId;
}

const placeOf = ({ accountId, id }: ProviderRow) => ({ accountId, providerId: id });

async function existing(ctx: OidcContext, accountId: number, teams: readonly number[] | undefined) {
  const known = await Promise.all((teams ?? []).map((id) => ctx.accounts.unitExists(accountId, "team", id)));
  return teams?.filter((_, index) => known[index]);
}

/**
 * Links a person who is here already, if the account allows it. Whoever had this address here until now may have been
 * somebody else: by what they know or hold nobody comes in any more. The address is told.
 */
async function link(ctx: OidcContext, user: NewUser, email: string, person: Person): Promise<number> {
  const { account, provider, proof } = user;
  // Somebody's login may look like this address without being theirs.
  if (!provider.linkByEmail || !isSameAddress(person.email, email)) throw new Refusal("taken", person.id);
  // Before the link, because a refusal must leave nothing behind.
  if (!person.active) throw new Refusal("switchedOff", person.id);
  roleOr(provider, proof.claims);
  const owner = { accountId: provider.accountId, userId: person.id };
  // It stands for both factors, and a provider without that trust replaces only the first.
  if (!provider.trustSecondFactor && (await ctx.factors.kindsOf(owner)).includes("passkey"))
    throw new Refusal("passkey", person.id);
  let ended = async () => {};
  await ctx.accounts.endPassword(owner, async ({ id }, tx) => {
    // The address may have become somebody else's at the provider.
    if (!(await addIdentity(tx, placeOf(provider), id, { ...proof, email }))) throw new Refusal("linked", id);
    await removeOtherIdentities(tx, placeOf(provider), id, email);
    await ctx.factors.endPasskeys(owner, tx);
    ended = await ctx.tokens.switchOff(owner.accountId, id, tx);
    const { name, login } = person;
    const values = { name, login, provider: provider.name, time: timeIn(account) };
    await ctx.mail.tell({ accountId: owner.accountId, to: email, template: "sign_in_linked", values }, tx);
  });
  await ended();
  return person.id;
}

/** Whoever is here already stays who they are. */
function linking(provider: ProviderRow, proof: Proof, email: string) {
  return async ({ id }: Pick<Person, "id">, tx: Tx) => {
    if (!(await addIdentity(tx, placeOf(provider), id, { ...proof, email }))) throw new Refusal("linked");
  };
}

async function make(ctx: OidcContext, provider: ProviderRow, proof: Proof, email: string): Promise<number> {
  const { accountId } = provider;
  const role = roleOr(provider, proof.claims) ?? provider.defaultRole;
  if (!provider.createPeople || role === null) throw new Refusal("unknown");
  const teams = await existing(ctx, accountId, teamsOf(proof.claims, provider, []));
  const fields = { login: email, email, name: nameOf(proof.claims, email), role, ...(teams && { team_ids: teams }) };
  const made = await ctx.accounts.admitPerson(accountId, fields, linking(provider, proof, email));
  return made.id;
}

function emailOf(provider: ProviderRow, proof: Proof): string {
  const email = verifiedEmail(proof.emailClaims, provider.verifiedClaim);
  if (email === undefined) throw new Refusal("unverified");
  const { emailDomains } = provider;
  if (emailDomains.length > 0 && !isOfDomain(email, emailDomains)) throw new Refusal("domain");
  return email;
}

/**
 * The link of the mail alone would do for a password; here the provider's address must be the invited one too, so that
 * nobody is led by another's link into a person that is not theirs.
 */
async function invited(
  ctx: OidcContext,
  account: Account,
  provider: ProviderRow,
  proof: Proof,
  hash: string,
): Promise<number> {
  const invitation = await ctx.passwords.invitationByHash(account, hash);
  if (!invitation) throw new Refusal("invitationEnded");
  const email = emailOf(provider, proof);
  if (!isSameAddress(email, invitation.email)) throw new Refusal("invitationEmail");
  roleOr(provider, proof.claims);
  const taken = await ctx.passwords.takeUp(account, invitation, linking(provider, proof, email));
  if (!taken) throw new Refusal("invitationEnded");
  return invitation.userId;
}

async function admit(ctx: OidcContext, user: NewUser): Promise<number> {
  const { provider, proof } = user;
  const email = emailOf(provider, proof);
  try {
    const person = await ctx.accounts.personByLogin(provider.accountId, email);
    return await (person ? link(ctx, user, email, person) : make(ctx, provider, proof, email));
  } catch (error) {
    if (!(error instanceof HttpError || error instanceof Refusal)) throw error;
    // The same person may have come by two tabs at once.
    const meanwhile = await useIdentity(ctx.sql, placeOf(provider), proof);
    if (meanwhile !== undefined) return meanwhile;
    throw error instanceof Refusal ? error : new Refusal("taken");
  }
}

/** Gives people what the provider's claims say that they have now. */
async function follow(ctx: OidcContext, provider: ProviderRow, claims: Claims, person: Person): Promise<void> {
  const role = roleOr(provider, claims) ?? person.role;
  const teams = await existing(ctx, provider.accountId, teamsOf(claims, provider, person.team_ids));
  const isSame =
    role === person.role && (teams ?? person.team_ids).join() === person.team_ids.toSorted((a, b) => a - b).join();
  if (isSame) return;
  const place = { accountId: provider.accountId, userId: person.id };
  try {
    await ctx.accounts.followRule(place, { role, ...(teams && { team_ids: teams }) });
  } catch (error) {
    // The account would lose its last administrator.
    if (!(error instanceof ValidationError)) throw error;
    ctx.log.warn("a sign-in could not change somebody's role", { ...place, role, fields: error.fields });
  }
}

/** The role by the rule; undefined = there is none. Throws if the rule lets nobody without a role in. */
function roleOr(provider: ProviderRow, claims: Claims): Role | undefined {
  const role = roleOf(claims, provider);
  if (role === null) throw new Refusal("noRole");
  return role;
}
