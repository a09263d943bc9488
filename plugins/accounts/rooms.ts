/** Calls of other rooms to `oidc`, which is set up after them. */
import { service, type Account, type Caller, type Language } from "platform";
import type { PageLink } from "./sessions/page.ts";

/** Where the form that a link stands below leads. */
export interface LoginPlace {
  readonly returnTo: string;
  /** Somebody who is signed in wants to prove themselves again. */
  readonly again: boolean;
}

export interface Providers {
  /** The account's providers, as links to sign in by. */
  loginLinks(account: Account, language: Language, place: LoginPlace): Promise<readonly PageLink[]>;
  /** Providers by which an invitation to this address can be taken up. */
  invitationLinks(account: Account, language: Language, email: string): Promise<readonly PageLink[]>;
  /** Returns, once the session has ended, where its person may go to be signed out there too. */
  leaving(caller: Caller): Promise<((language: Language) => Promise<PageLink | undefined>) | undefined>;
}

export const providers = service<Providers>("oidc");
