/** The pages to sign in by, for plugins with further ones. */
import { service, type Reply, type RequestInput } from "platform";

export { originMistake, pageAnswers, refuseOtherOrigins, safePath } from "./browser.ts";
export { linkLine, page, type PageLink } from "./page.ts";

/** Somebody who has proved by other means than a password who they are. */
export interface Proven {
  readonly userId: number;
  readonly returnTo: string;
  /** They have given a second factor elsewhere. */
  readonly isSecond: boolean;
  /** The row of `sign_in_origins` that its session belongs to. */
  readonly origin?: string;
}

export interface Sessions {
  /** The headers of pages made by `page`: their policy allows its style. */
  readonly pageHeaders: Readonly<Record<string, string>>;
  /** Goes on as after the right password: asks for the second factor (200), or starts a session (303 to `returnTo`). */
  admit(
    input: Pick<RequestInput, "account" | "host" | "caller" | "request" | "ip" | "secure">,
    proven: Proven,
  ): Promise<Reply>;
}

export const sessions = service<Sessions>("sessions");
