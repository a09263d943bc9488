/** Invitations by mail, for plugins by which people prove who they are in another way than by a password. */
import { service, type Account, type RequestInput, type Tx } from "platform";
import type { Person } from "../api.ts";

/** An invitation of somebody who was added for it and has never come in. */
export interface Invited {
  /** Names the link; whoever has it cannot use it. */
  readonly tokenHash: string;
  readonly userId: number;
  /** Where the invitation was sent. */
  readonly email: string;
}

export interface Passwords {
  /** The one whose link this browser has followed; undefined if it does not work, or no longer. */
  invitation(input: Pick<RequestInput, "account" | "request" | "secure">): Promise<Invited | undefined>;
  invitationByHash(account: Account, tokenHash: string): Promise<Invited | undefined>;
  /**
   * Uses it up and switches its person on; `also` runs in the same transaction, and what it throws stops it. False if it
   * no longer works.
   */
  takeUp(account: Account, invited: Invited, also: (person: Person, tx: Tx) => Promise<void>): Promise<boolean>;
}

export const passwords = service<Passwords>("passwords");
