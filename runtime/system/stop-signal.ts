/** A service is stopped by SIGTERM; SIGINT comes from a person who waits at the terminal. */
export type StopSignal = "SIGTERM" | "SIGINT";

/** Resolves at the next of them. */
export function stopSignal(): Promise<StopSignal> {
  return new Promise((resolve) => {
    process.once("SIGTERM", () => resolve("SIGTERM"));
    process.once("SIGINT", () => resolve("SIGINT"));
  });
}
