/** Proof that what is told comes back to us, so that what others tell reaches us as well. */

/** Its age counts from the sending of the last message of ours that came back. `now`: in milliseconds. */
export function createProof(now: () => number = () => performance.now()) {
  let provenAt = now();
  let asked: { number: number; at: number }[] = [];
  return {
    ask: (number: number) => void asked.push({ number, at: now() }),
    hear(number: number) {
      const last = asked.findLast((one) => one.number <= number);
      if (!last) return;
      provenAt = last.at;
      asked = asked.filter((one) => one.number > number);
    },
    /** A new connection listens. */
    renew() {
      provenAt = now();
      asked = [];
    },
    ageMs: () => now() - provenAt,
  };
}
