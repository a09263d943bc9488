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
