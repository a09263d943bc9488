/** Why a sign-in by a provider ends without a session, and what the pages of providers say. */
import type { Language } from "platform";
import de from "./text/de.json" with { type: "json" };
import en from "./text/en.json" with { type: "json" };
import pl from "./text/pl.json" with { type: "json" };

export type Reason =
  | "expired"
  | "declined"
  | "unreachable"
  | "wrong"
  | "gone"
  | "elsewhere"
  | "wait"
  | "unverified"
  | "domain"
  | "unknown"
  | "taken"
  | "linked"
  | "passkey"
  | "switchedOff"
  | "noRole"
  | "invitationEnded"
  | "invitationEmail";

/** The page's status. */
export const statusOf: Readonly<Record<Reason, number>> = {
  expired: 400,
  declined: 403,
  unreachable: 502,
  wrong: 502,
  gone: 404,
  elsewhere: 409,
  wait: 429,
  unverified: 403,
  domain: 403,
  unknown: 403,
  taken: 403,
  linked: 403,
  passkey: 403,
  switchedOff: 403,
  noRole: 403,
  invitationEnded: 404,
  invitationEmail: 403,
};

export class Refusal extends Error {
  override name = "Refusal";
  readonly reason: Reason;
  /** Whose account it was about. */
  readonly userId: number | undefined;

  constructor(reason: Reason, userId?: number, options?: ErrorOptions) {
    super(`the sign-in was refused: ${reason}`, options);
    this.reason = reason;
    this.userId = userId;
  }
}

type RefusalWords = Readonly<typeof en> & {
  readonly language: Language;
  readonly reasons: Readonly<Record<Reason, string>>;
};

export const allWords: Readonly<Record<Language, RefusalWords>> = {
  en: { ...en, language: "en" },
  pl: { ...pl, language: "pl" },
  de: { ...de, language: "de" },
};
