/** The pages to sign in by, for plugins with further ones. */
import { service, type Account, type Caller, type Language, type Reply, type RequestInput, type Tx } from "platform";
import type { PageLink } from "./page.ts";

export { originMistake, refuseOtherOrigins } from "./origin.ts";
export { linkLine, page, type PageLink } from "./page.ts";

export { safePath } from "./return-to.ts";

/** Where the form that a link stands below leads. */
export interface LoginPlace {
  readonly returnTo: string;
  /** Somebody who is signed in wants to prove themselves again. */
  readonly again: boolean;
}

/** Links below the form to sign in by, or undefined. */
export type LoginLink = (
  account: Account,
  language: Language,
  place: LoginPlace,
) => Promise<PageLink | readonly PageLink[] | undefined>;

/** Somebody who has proved by other means than a password who they are. */
export interface Proven {
  readonly userId: number;
  readonly returnTo: string;
  /** They have given a second factor elsewhere. */
  readonly isSecond: boolean;
  /** By what the plugin knows this sign-in when its session starts: see `onStarted`. */
  readonly origin?: string;
}

/** A session that has started after `admit`, with the `origin` given there. */
export interface Started {
  readonly accountId: number;
  readonly sessionId: number;
  readonly origin: string;
}

/** Gives, once the session has ended, where its person may go to be signed out there too. */
export type Leaving = (caller: Caller) => Promise<((language: Language) => Promise<PageLink | undefined>) | undefined>;

export interface Sessions {
  /** The headers of pages made by `page`: their policy allows its style. */
  readonly pageHeaders: Readonly<Record<string, string>>;
  /** Goes on as after the right password: asks for the second factor (200), or starts a session (303 to `returnTo`). */
  admit(
    input: Pick<RequestInput, "account" | "host" | "caller" | "request" | "ip" | "secure">,
    proven: Proven,
  ): Promise<Reply>;
  /** To be called in `setup`. */
  addLoginLink(link: LoginLink): void;
  /** Calls `run` in the transaction that starts such a session; what it throws refuses the sign-in. */
  onStarted(run: (started: Started, tx: Tx) => Promise<void>): void;
  /** Asks before a session is ended by its own person. */
  onLeaving(leaving: Leaving): void;
}

export const sessions = service<Sessions>("sessions");
