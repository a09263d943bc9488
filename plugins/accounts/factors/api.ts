/** Second factors, as the sign-in sees them. */
import { answer, service, Type, type Account, type JsonObject, type Tx } from "platform";

/** How the API shows a `TotpSetup`. */
export const totpSetupAnswer = answer.object("TotpSetup", {
  setup: Type.String(),
  secret: Type.String(),
  uri: Type.String(),
  qr: Type.String(),
});
export const totpSetupExample = {
  setup: "v1.3q2-7w…",
  secret: "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ",
  uri: "otpauth://totp/Main:anna?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Main&algorithm=SHA1&digits=6&period=30",
  qr: "<svg …>",
};

/** Whose factors. */
export interface Owner {
  readonly accountId: number;
  readonly userId: number;
}

export type FactorKind = "totp" | "passkey" | "recovery_code";

/** The browser's answer with a passkey, in base64url. */
export interface Assertion {
  readonly id: string;
  readonly response: {
    readonly clientDataJSON: string;
    readonly authenticatorData: string;
    readonly signature: string;
    readonly userHandle?: string | null;
  };
}

/** A new secret for an authenticator app, which counts once a code of it was confirmed. */
export interface TotpSetup {
  /** To be sent back with the code. It works for ten minutes. */
  readonly setup: string;
  /** To be typed where nothing can be scanned. */
  readonly secret: string;
  readonly uri: string;
  /** The QR code: an SVG document. */
  readonly qr: string;
}

export interface Factors {
  /** By what the person proves themselves after the password; [] = nothing. */
  kindsOf(owner: Owner): Promise<readonly FactorKind[]>;
  /** Whether the account lets nobody like this person in by password alone. */
  isRequired(owner: Owner): Promise<boolean>;
  /** Uses up a code of the app or a recovery code; false = wrong. Throws 429 after too many wrong ones. */
  checkCode(owner: Owner, code: string): Promise<boolean>;
  beginTotp(owner: Owner): Promise<TotpSetup>;
  /** The same again, to show it once more; undefined if it has expired or is another person's. */
  shownTotp(owner: Owner, setup: string): Promise<TotpSetup | undefined>;
  /** Makes the app count. Returns new recovery codes; undefined if the code is wrong. Throws 422 for an expired setup. */
  confirmTotp(owner: Owner, setup: string, code: string): Promise<readonly string[] | undefined>;
  /** Ends all passkeys of a person, each of which is a way in by itself. An app stays. */
  endPasskeys(owner: Owner, tx: Tx): Promise<void>;
  /** Whether anybody in the account has a passkey. */
  hasPasskeys(accountId: number): Promise<boolean>;
  /** The parameter of `navigator.credentials.get`. Throws 422 if the account's address allows no passkeys. */
  passkeyOptions(account: Account): Promise<JsonObject>;
  /** Whose passkey it is: it stands for both factors. Throws 401. */
  passkeyOwner(account: Account, assertion: Assertion): Promise<Owner>;
}

export const factors = service<Factors>("factors");
