/** What people must prove before they change their own credentials. behaviour B.19. */
import { forbidden, invalid, notFound, tooMany, verifyPassword, type Caller } from "platform";
import { ownerOf, stale } from "../factors/policy.ts";
import * as factorStore from "../factors/store.ts";
import type { PersonPatch } from "../api.ts";
import type { PeopleContext } from "./context.ts";
import { mustReach } from "./rules.ts";
import { passwordById, type UserRow } from "./user-store.ts";

/**
 * A sign-in gives a full session, so a narrowed token must not change what its owner signs in with. Whoever has a second
 * factor proves both anew; for all others the password that they must give is enough.
 */
export async function mustReachSelf(ctx: PeopleContext, caller: Caller): Promise<void> {
  const own = await ctx.access.access(caller.user.id);
  if (!own) throw notFound();
  mustReach(caller, { role: own.user.role, privileges: [...own.privileges] }, ctx.access.privilegesOfRole);
  const { hasAny } = await factorStore.of(ctx.sql, ownerOf(caller));
  if (hasAny && !(await ctx.later.tokens.standingOf(caller)).isFresh) throw forbidden(stale);
}

/** The password in use, or an invitation, under which there is none. */
export async function mayChangePassword(ctx: PeopleContext, caller: Caller, password: string | undefined) {
  if ((await ctx.later.tokens.standingOf(caller)).isInvited) return;
  if (password === undefined) throw invalid({ current_password: ["is required for a new password"] });
  await mustKnowPassword(ctx, caller, password);
}

/** A sign-in that is fresh, or one and the password. Never an API token: it may be stolen without anybody noticing. */
export async function mayChangeEmail(ctx: PeopleContext, caller: Caller, password: string | undefined) {
  const { isSession, isFresh } = await ctx.later.tokens.standingOf(caller);
  if (!isSession) throw forbidden("an e-mail address is changed in a session: an API token is not enough");
  if (isFresh) return;
  if (password === undefined)
    throw invalid({
      current_password: ["is required for another e-mail address: your sign-in is older than ten minutes"],
    });
  await mustKnowPassword(ctx, caller, password);
}

/** Somebody who finds an open session must not be able to guess the password through it. */
async function mustKnowPassword(ctx: PeopleContext, { account, user }: Caller, password: string): Promise<void> {
  const guess = await ctx.guesses.take(`${user.id}`);
  if (!guess.allowed) throw tooMany(guess.retryAfterSeconds);
  const hash = await passwordById(ctx.sql, account.id, user.id);
  if (!(await verifyPassword(password, hash))) throw invalid({ current_password: ["is wrong"] });
}

/** One's own row among the people: an administrator's word counts for others, here it takes a fresh sign-in. */
export async function rowCheck(ctx: PeopleContext, caller: Caller) {
  const { isFresh } = await ctx.later.tokens.standingOf(caller);
  return (before: UserRow, patch: PersonPatch): void => {
    const { login = before.login, email = before.email, password } = patch;
    const hasOtherEmail = (email || null) !== before.email;
    if (login === before.login && !hasOtherEmail && password === undefined) return;
    if (hasOtherEmail && caller.user.role !== "admin") throw forbidden("change your own e-mail address at /account/me");
    if (!isFresh)
      throw forbidden(
        "your own login, e-mail address and password change here only within ten minutes after a sign-in",
      );
  };
}
