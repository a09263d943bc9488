let lastMs = 0;
let sequence = 0;

/** RFC 9562, version 7. Those of one millisecond count on from a random number, so that they sort in their order too. */
export function uuidv7(): string {
  const now = Date.now();
  if (now > lastMs) [lastMs, sequence] = [now, Math.trunc(Math.random() * 0x800)];
  else if (++sequence > 0xfff) [lastMs, sequence] = [lastMs + 1, 0];
  const time = lastMs.toString(16).padStart(12, "0");
  const tail = crypto.randomUUID().slice(19); // the variant and 62 random bits
  return `${time.slice(0, 8)}-${time.slice(8)}-7${sequence.toString(16).padStart(3, "0")}-${tail}`;
}
