/** What one proves oneself by besides the password. */

/** The answer of `GET /account/me/factors`. */
export interface OwnFactors {
  readonly totp_at: string | null;
  readonly passkeys: readonly OwnPasskey[];
  readonly recovery_codes: number;
  readonly required: boolean;
  readonly fresh: boolean;
}

export interface OwnPasskey {
  readonly id: number;
  readonly name: string;
  readonly created_at: string;
  readonly last_used_at: string | null;
}

export interface TotpSetup {
  readonly setup: string;
  readonly secret: string;
  readonly qr: string;
}

/** `GEZDGNBV` -> `GEZD GNBV`: as people type it. */
export function spaced(secret: string): string {
  return secret.match(/.{1,4}/g)?.join(" ") ?? "";
}

/** The codes that an answer shows; [] = none are new. */
export function codesIn(json: unknown): string[] {
  const isAnswer = typeof json === "object" && json !== null && "recovery_codes" in json;
  return isAnswer && Array.isArray(json.recovery_codes) ? json.recovery_codes.map(String) : [];
}

/** An item of `GET /account/me/sessions`: where somebody is signed in. */
export interface OwnSession {
  readonly id: number;
  readonly created_at: string;
  readonly last_used_at: string | null;
  readonly address: string | null;
  /** `Firefox, Linux`; null if the sign-in did not say. */
  readonly device: string | null;
  readonly current: boolean;
}

/** This one first, then the last used. */
export function sessionsOf(answers: readonly OwnSession[]): OwnSession[] {
  const latest = ({ last_used_at, created_at }: OwnSession) => last_used_at ?? created_at;
  return answers.toSorted((a, b) => Number(b.current) - Number(a.current) || latest(b).localeCompare(latest(a)));
}
