/** Who may change which person; person-writer.ts changes them. */
import { invalid, mustMatch, notFound, tooMany, verifyPassword, type BaseContext, type Caller } from "platform";
import type { InvitedCheck } from "./api.ts";
import type { LoginStore } from "./login-store.ts";
import { createPersonWriter, type PersonWriterNeeded } from "./person-writer.ts";
import type { OwnPatch, PersonPatch } from "./person.ts";
import { mustNotExceed, mustReach } from "./rules.ts";
import type { UserRow } from "./user-store.ts";

interface Needed extends PersonWriterNeeded {
  readonly ctx: Pick<BaseContext, "transaction" | "changed" | "limiter">;
  readonly loginStore: Pick<LoginStore, "passwordById">;
  readonly invitedChecks: readonly InvitedCheck[];
}

export function createPeople(needed: Needed) {
  const { ctx, access, loginStore, invitedChecks } = needed;
  const { privilegesOfRole: ofRole } = access;
  const writer = createPersonWriter(needed);
  // Somebody who finds an open session must not be able to guess the password through it.
  const guesses = ctx.limiter("accounts.own-password", { limit: 10, windowSeconds: 300 });

  /** A sign-in gives a full session, so a narrowed token must not change what its owner signs in with. */
  const mustReachSelf = async (caller: Caller): Promise<void> => {
    const own = await access.access(caller.user.id);
    if (!own) throw notFound();
    mustReach(caller, { role: own.user.role, privileges: [...own.privileges] }, ofRole);
  };

  const isInvited = async (caller: Caller): Promise<boolean> =>
    (await Promise.all(invitedChecks.map((check) => check(caller)))).includes(true);

  const mustKnowPassword = async (caller: Caller, password: string | undefined): Promise<void> => {
    const { account, user } = caller;
    if (await isInvited(caller)) return;
    if (password === undefined) throw invalid({ current_password: ["is required for a new password"] });
    const guess = await guesses.take(`${user.id}`);
    if (!guess.allowed) throw tooMany(guess.retryAfterSeconds);
    const hash = await loginStore.passwordById(account.id, user.id);
    if (!(await verifyPassword(password, hash))) throw invalid({ current_password: ["is wrong"] });
  };

  return {
    create: (caller: Caller, patch: PersonPatch & { login: string }): Promise<UserRow> =>
      writer.create(caller.account.id, patch, (after) => mustNotExceed(caller, after, ofRole)),

    /** `expected` is the version that the caller has seen; undefined = any. */
    update: (caller: Caller, id: number, patch: PersonPatch, expected?: number): Promise<UserRow> =>
      writer.change({ accountId: caller.account.id, id }, patch, caller.tokenId, (before, after) => {
        mustReach(caller, before, ofRole);
        mustMatch(before, expected);
        mustNotExceed(caller, after, ofRole);
      }),

    async updateSelf(
      caller: Caller,
      { current_password, ...patch }: OwnPatch,
      expected: number | undefined,
    ): Promise<UserRow> {
      if (patch.password !== undefined || patch.email !== undefined) await mustReachSelf(caller);
      if (patch.password !== undefined) await mustKnowPassword(caller, current_password);
      const own = { accountId: caller.account.id, id: caller.user.id };
      return writer.change(own, patch, caller.tokenId, (before) => mustMatch(before, expected));
    },

    /** For the command line, which may change anyone. */
    setPassword: (accountId: number, id: number, password: string): Promise<UserRow> =>
      writer.change({ accountId, id }, { password }, null, anybody),

    delete: (caller: Caller, id: number, expected?: number): Promise<void> =>
      writer.delete({ accountId: caller.account.id, id }, (before) => {
        mustReach(caller, before, ofRole);
        mustMatch(before, expected);
      }),
  };
}

export type People = ReturnType<typeof createPeople>;

const anybody = (): void => {};
