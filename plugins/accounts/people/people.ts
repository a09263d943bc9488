/** Who may change which person; person-writer.ts changes them. */
import { invalid, mustMatch, notFound, type BaseContext, type Caller, type Sql, type Tx } from "platform";
import type { LoginStore } from "./login-store.ts";
import { createOwn, type OwnProof } from "./own.ts";
import type { OwnGuard } from "../api.ts";
import { createPersonWriter, type PersonWriterNeeded } from "./person-writer.ts";
import { isEmail, type OwnPatch } from "./person.ts";
import type { PersonPatch } from "./person-patch.ts";
import { mustNotExceed, mustReach } from "./rules.ts";
import { toApi, type UserRow } from "./user-store.ts";

interface Needed extends PersonWriterNeeded {
  readonly ctx: Pick<BaseContext, "transaction" | "changed" | "limiter"> & { readonly sql: Sql };
  readonly loginStore: Pick<LoginStore, "passwordById">;
  readonly ownProof: OwnProof;
  readonly ownGuards: readonly OwnGuard[];
}

export function createPeople(needed: Needed) {
  const { ctx, access, userStore, ownProof } = needed;
  const { privilegesOfRole: ofRole } = access;
  const writer = createPersonWriter(needed);
  const own = createOwn(needed);

  /** The address, if it is not the one in use; undefined = it stays. */
  const otherEmail = async ({ accountId, id }: Place, given: string | null | undefined) => {
    const email = given === undefined ? undefined : ((given?.trim() || null)?.normalize("NFC") ?? null);
    if (email === undefined) return undefined;
    if (email !== null && !isEmail(email)) throw invalid({ email: ["must be an e-mail address"] });
    const row = await userStore.byId(ctx.sql, accountId, id);
    if (!row) throw notFound();
    return email === row.email ? undefined : email;
  };

  return {
    /** `also` runs in the same transaction. */
    create: (caller: Caller, patch: PersonPatch & { login: string }, also?: Also): Promise<UserRow> =>
      writer.create(caller.account.id, patch, (after) => mustNotExceed(caller, after, ofRole), also),

    /** `expected` is the version that the caller has seen; undefined = any. */
    async update(caller: Caller, id: number, patch: PersonPatch, expected?: number): Promise<UserRow> {
      const mustBeOwn = id === caller.user.id ? await own.rowCheck(caller) : undefined;
      return writer.change({ accountId: caller.account.id, id }, patch, caller.tokenId, (before, after) => {
        mustReach(caller, before, ofRole);
        mustMatch(before, expected);
        mustNotExceed(caller, after, ofRole);
        mustBeOwn?.(before, patch);
      });
    },

    /** Another address counts only once it is confirmed; without one, the change is done at once. */
    async updateSelf(caller: Caller, given: OwnPatch, expected: number | undefined): Promise<UserRow> {
      const { current_password, pending_email, email: typed, ...patch } = given;
      const place = { accountId: caller.account.id, id: caller.user.id };
      const { confirmation } = ownProof;
      if (typed !== undefined || patch.password !== undefined) await own.mustReachSelf(caller);
      const email = await otherEmail(place, typed);
      if (email !== undefined) await own.mayChangeEmail(caller, current_password);
      if (patch.password !== undefined) await own.mayChangePassword(caller, current_password);
      if (email) await confirmation.check(caller, email);
      const direct = email === null ? { ...patch, email } : patch;
      const mayChange = (before: UserRow) => mustMatch(before, expected);
      return writer.change(place, direct, caller.tokenId, mayChange, async (row, tx) => {
        if (email) await writer.mustBeFree(tx, row, email);
        if (email) await confirmation.begin(caller, toApi(row), email, tx);
        else if (pending_email === null) await confirmation.cancel(place.accountId, place.id, tx);
      });
    },

    /**
     * For those who prove themselves in another way than by a token: the command line, a link in a mail. `authorize`
     * runs in the same transaction.
     */
    changeProved: (place: Place, patch: ProvedPatch, authorize: Also = anybody) =>
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

type ProvedPatch = Pick<PersonPatch, "active" | "email" | "password">;

type Also = (person: UserRow, tx: Tx) => Promise<void>;

interface Place {
  readonly accountId: number;
  readonly id: number;
}

const anybody = async (): Promise<void> => {};
