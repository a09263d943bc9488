/** Invitations by mail, for plugins by which people prove who they are in another way than by a password. */
import { service, type Account, type Language, type RequestInput, type Tx } from "platform";
import type { Person } from "../api.ts";
import type { PageLink } from "../sessions/api.ts";

/** An invitation of somebody who was added for it and has never come in. */
export interface Invited {
  /** Names the link; whoever has it cannot use it. */
  readonly tokenHash: string;
  readonly userId: number;
  /** Where the invitation was sent. */
  readonly email: string;
}

/** Further ways to take up an invitation that was sent to this address. */
export type InvitationLinks = (account: Account, language: Language, email: string) => Promise<readonly PageLink[]>;

export interface Passwords {
  /** The one whose link this browser has followed; undefined if it does not work, or no longer. */
  invitation(input: Pick<RequestInput, "account" | "request" | "secure">): Promise<Invited | undefined>;
  invitationByHash(account: Account, tokenHash: string): Promise<Invited | undefined>;
  /**
   * Uses it up and switches its person on; `also` runs in the same transaction, and what it throws stops it. False if it
   * no longer works.
   */
  takeUp(account: Account, invited: Invited, also: (person: Person, tx: Tx) => Promise<void>): Promise<boolean>;
  /** To be called in `setup`. */
  addInvitationLinks(links: InvitationLinks): void;
}

export const passwords = service<Passwords>("passwords");
