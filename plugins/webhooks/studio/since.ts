/** From when failed deliveries are sent again. Pure. */

const minuteMs = 60_000;

/** In minutes. */
export const spans = { hour: 60, day: 1440, week: 10_080, month: 43_200 } as const;
export type Span = keyof typeof spans;

export function sinceOf(span: Span, now: number): string {
  return new Date(now - spans[span] * minuteMs).toISOString();
}

export function isSpan(value: string): value is Span {
  return Object.hasOwn(spans, value);
}
