/** Prints what a start has to say: the address, and on an empty database the first credentials. */
import { writeOutput } from "../../system/output.ts";

export interface Greeting {
  /** Receives the lines that are shown only once. */
  readonly announce: (lines: readonly string[]) => void;
  /** The server accepts requests: prints its address and the other `lines`. */
  readonly ready: (line: string) => void;
  /** The start has failed: prints what was announced, so that it is not lost. */
  readonly failed: () => void;
}

/**
 * On a terminal the credentials come last, where they are noticed; a program that reads along gets them before the
 * address.
 */
export function createGreeting(isTerminal: boolean = process.stdout.isTTY, write = writeOutput): Greeting {
  const kept: string[] = [];
  const tell = () => {
    if (kept.length > 0) write(`\n${kept.splice(0).join("\n")}\nThis is shown only once.\n\n`);
  };
  return {
    announce: (lines) => {
      if (isTerminal) kept.push(...lines);
      else write(lines.map((line) => `${line}\n`).join(""));
    },
    ready: (line) => {
      write(`${line}\n`);
      tell();
    },
    failed: tell,
  };
}
