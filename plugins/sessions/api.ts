/** The pages to sign in by, for plugins with further ones. */
import { service, type Account, type Language } from "platform";
import type { PageLink } from "./page.ts";

export { originMistake, refuseOtherOrigins } from "./origin.ts";
export { linkLine, page } from "./page.ts";

/** A link below the form to sign in by, or undefined. */
export type LoginLink = (account: Account, language: Language) => Promise<PageLink | undefined>;

export interface Sessions {
  /** The headers of pages made by `page`: their policy allows its style. */
  readonly pageHeaders: Readonly<Record<string, string>>;
  /** To be called in `setup`. */
  addLoginLink(link: LoginLink): void;
}

export const sessions = service<Sessions>("sessions");
