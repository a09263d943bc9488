/**
 * How much one read brings into memory, in bytes, wherever rows become an answer, an event or a part of a file
 * (behaviour B.3.21). Counts of rows do not bound that: a single record may have megabytes.
 */
export const readBounds = {
  /** An answer that lists rows ends after the row that reaches it. */
  answerBytes: 8_000_000,
  /** The answer to up to 1,000 changes, which shows each changed record whole. */
  batchBytes: 32_000_000,
  /** What a process reads ahead for itself: changes to be told, deliveries to be sent, a part of an export. */
  pageBytes: 2_000_000,
} as const;

/** SQL: the bytes of the rows before this one, whose own are `size`, in the order that the rows come in or in `order`. */
export const bytesBefore = (size: string, order = "") =>
  `coalesce(sum(${size}) over (${order && `order by ${order}`} rows between unbounded preceding and 1 preceding), 0)`;
