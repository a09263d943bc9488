/** What people must prove before they change their own credentials. behaviour B.19. */
import { forbidden, invalid, notFound, tooMany, verifyPassword, type BaseContext, type Caller } from "platform";
import type { AccessTable } from "./access.ts";
import type { EmailConfirmation, OwnGuard, StandingOf } from "../api.ts";
import type { LoginStore } from "./login-store.ts";
import type { PersonPatch } from "./person-patch.ts";
import { mustReach } from "./rules.ts";
import type { UserRow } from "./user-store.ts";

/** What other plugins know about it: filled while they are set up. */
export interface OwnProof {
  standingOf: StandingOf;
  confirmation: EmailConfirmation;
}

interface Needed {
  readonly ctx: Pick<BaseContext, "limiter">;
  readonly access: AccessTable;
  readonly loginStore: Pick<LoginStore, "passwordById">;
  readonly ownProof: OwnProof;
  readonly ownGuards: readonly OwnGuard[];
}

export function createOwn({ ctx, access, loginStore, ownProof, ownGuards }: Needed) {
  // Somebody who finds an open session must not be able to guess the password through it.
  const guesses = ctx.limiter("accounts.own-password", { limit: 10, windowSeconds: 300, exact: true });

  const mustKnowPassword = async ({ account, user }: Caller, password: string): Promise<void> => {
    const guess = await guesses.take(`${user.id}`);
    if (!guess.allowed) throw tooMany(guess.retryAfterSeconds);
    const hash = await loginStore.passwordById(account.id, user.id);
    if (!(await verifyPassword(password, hash))) throw invalid({ current_password: ["is wrong"] });
  };

  return {
    /** A sign-in gives a full session, so a narrowed token must not change what its owner signs in with. */
    async mustReachSelf(caller: Caller): Promise<void> {
      const own = await access.access(caller.user.id);
      if (!own) throw notFound();
      mustReach(caller, { role: own.user.role, privileges: [...own.privileges] }, access.privilegesOfRole);
      await Promise.all(ownGuards.map((guard) => guard(caller)));
    },

    /** The password in use, or an invitation, under which there is none. */
    async mayChangePassword(caller: Caller, password: string | undefined): Promise<void> {
      if ((await ownProof.standingOf(caller)).isInvited) return;
      if (password === undefined) throw invalid({ current_password: ["is required for a new password"] });
      await mustKnowPassword(caller, password);
    },

    /** A sign-in that is fresh, or one and the password. Never an API token: it may be stolen without anybody noticing. */
    async mayChangeEmail(caller: Caller, password: string | undefined): Promise<void> {
      const { isSession, isFresh } = await ownProof.standingOf(caller);
      if (!isSession) throw forbidden("an e-mail address is changed in a session: an API token is not enough");
      if (isFresh) return;
      if (password === undefined)
        throw invalid({
          current_password: ["is required for another e-mail address: your sign-in is older than ten minutes"],
        });
      await mustKnowPassword(caller, password);
    },

    /** One's own row among the people: an administrator's word counts for others, here it takes a fresh sign-in. */
    async rowCheck(caller: Caller): Promise<(before: UserRow, patch: PersonPatch) => void> {
      const { isFresh } = await ownProof.standingOf(caller);
      return (before, patch) => mustBeOwnChange(caller, isFresh, before, patch);
    },
  };
}

function mustBeOwnChange(caller: Caller, isFresh: boolean, before: UserRow, patch: PersonPatch): void {
  const { login = before.login, email = before.email, password } = patch;
  const hasOtherEmail = (email || null) !== before.email;
  if (login === before.login && !hasOtherEmail && password === undefined) return;
  if (hasOtherEmail && caller.user.role !== "admin") throw forbidden("change your own e-mail address at /account/me");
  if (!isFresh)
    throw forbidden("your own login, e-mail address and password change here only within ten minutes after a sign-in");
}

/** As long as no other plugin knows better. */
export const nothingProved = (): OwnProof => ({
  standingOf: async () => ({ isSession: false, isFresh: false, isInvited: false }),
  confirmation: {
    pendingOf: async () => null,
    check: async () => {
      throw invalid({ email: ["cannot be confirmed: this server sends no mails"] });
    },
    begin: async () => {},
    cancel: async () => {},
    tell: async () => {},
  },
});
