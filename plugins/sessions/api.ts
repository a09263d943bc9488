/** The pages to sign in by, for plugins with further ones. */
import { service, type Account, type Language, type Reply, type RequestInput } from "platform";
import type { PageLink } from "./page.ts";

export { originMistake, refuseOtherOrigins } from "./origin.ts";
export { linkLine, page } from "./page.ts";

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
}

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
}

export const sessions = service<Sessions>("sessions");
