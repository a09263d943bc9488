/** Who may change which person; person-writer.ts changes them. */
import {
  invalid,
  mustMatch,
  notFound,
  tooMany,
  verifyPassword,
  type BaseContext,
  type Caller,
  type Tx,
} from "platform";
import type { InvitedCheck, OwnGuard } from "./api.ts";
import type { LoginStore } from "./login-store.ts";
import { createPersonWriter, type PersonWriterNeeded } from "./person-writer.ts";
import type { OwnPatch } from "./person.ts";
import type { PersonPatch } from "./person-patch.ts";
import { mustNotExceed, mustReach } from "./rules.ts";
import type { UserRow } from "./user-store.ts";

interface Needed extends PersonWriterNeeded {
  readonly ctx: Pick<BaseContext, "transaction" | "changed" | "limiter">;
  readonly loginStore: Pick<LoginStore, "passwordById">;
  readonly invitedChecks: readonly InvitedCheck[];
  readonly ownGuards: readonly OwnGuard[];
}

export function createPeople(needed: Needed) {
  const { ctx, access, loginStore, invitedChecks, ownGuards } = needed;
  const { privilegesOfRole: ofRole } = access;
  const writer = createPersonWriter(needed);
  // Somebody who finds an open session must not be able to guess the password through it.
  const guesses = ctx.limiter("accounts.own-password", { limit: 10, windowSeconds: 300, exact: true });

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
    /** `also` runs in the same transaction. */
    create: (caller: Caller, patch: PersonPatch & { login: string }, also?: Also): Promise<UserRow> =>
      writer.create(caller.account.id, patch, (after) => mustNotExceed(caller, after, ofRole), also),

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
      if (patch.password !== undefined || patch.email !== undefined) {
        await mustReachSelf(caller);
        await Promise.all(ownGuards.map((guard) => guard(caller)));
      }
      if (patch.password !== undefined) await mustKnowPassword(caller, current_password);
      const own = { accountId: caller.account.id, id: caller.user.id };
      return writer.change(own, patch, caller.tokenId, (before) => mustMatch(before, expected));
    },

    /**
     * For those who prove themselves in another way than by a token: the command line, a link in a mail. `authorize`
     * runs in the same transaction.
     */
    changeProved: (place: Place, patch: Pick<PersonPatch, "password" | "active">, authorize: Also = anybody) =>
      writer.change(place, patch, null, (before, _, tx) => authorize(before, tx)),

    /** The account has a rule by which this person comes in. */
    admit: (accountId: number, patch: PersonPatch & { login: string }, also: Also): Promise<UserRow> =>
      writer.create(accountId, patch, () => {}, also),

    /** The account has a rule that decides this, whoever the person is. */
    followRule: (place: Place, patch: Pick<PersonPatch, "role" | "team_ids">): Promise<UserRow> =>
      writer.change(place, patch, null, () => {}),

    delete: (caller: Caller, id: number, expected?: number, also: Also = anybody): Promise<void> =>
      writer.delete({ accountId: caller.account.id, id }, async (before, tx) => {
        mustReach(caller, before, ofRole);
        mustMatch(before, expected);
        await also(before, tx);
      }),
  };
}

export type People = ReturnType<typeof createPeople>;

type Also = (person: UserRow, tx: Tx) => Promise<void>;

interface Place {
  readonly accountId: number;
  readonly id: number;
}

const anybody = async (): Promise<void> => {};
