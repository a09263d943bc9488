/** What setting up a service does, step by step: to be printed, or done. */
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { start, textOf } from "../../system/process.ts";

export type Step =
  | { readonly run: readonly string[]; readonly unless?: string }
  /** `keep`: what is there already stays. */
  | { readonly write: string; readonly text: string; readonly mode: number; readonly keep?: true }
  | { readonly copy: string; readonly to: string; readonly mode: number }
  | { readonly link: string; readonly to: string }
  | { readonly remove: string };

export interface Machine {
  /** "/" but in tests. */
  readonly root: string;
  /** Runs a command and returns its exit code and output. */
  readonly run: (words: readonly string[], options?: CommandOptions) => Promise<CommandResult>;
}

/** Where a command runs; default: as this program. */
export interface CommandOptions {
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface CommandResult {
  readonly code: number;
  readonly output: string;
}

export async function runOnMachine(words: readonly string[], options?: CommandOptions): Promise<CommandResult> {
  const at = options && { cwd: options.folder, env: options.env };
  const child = start(words, { ...at, stdio: ["ignore", "pipe", "pipe"] });
  const [out, errors] = await Promise.all([textOf(child.stdout), textOf(child.stderr)]);
  return { code: await child.exited, output: `${out}${errors}`.trim() };
}

/** One line of what a step does; a file's text follows in `print`. */
export function told(step: Step): string {
  if ("run" in step) return step.run.join(" ");
  if ("write" in step) return `write ${step.write} (${mode(step)}${step.keep ? ", unless it is there" : ""})`;
  if ("copy" in step) return `copy ${step.copy} to ${step.to} (${mode(step)})`;
  if ("link" in step) return `link ${step.link} to ${step.to}`;
  return `remove ${step.remove}`;
}

/** All that the steps would do, with the whole text of each file. */
export function print(steps: readonly Step[]): string[] {
  return steps.flatMap((step) =>
    "write" in step
      ? [
          `# ${told(step)}`,
          ...step.text
            .trimEnd()
            .split("\n")
            .map((line) => `    ${line}`),
        ]
      : [`# ${told(step)}`],
  );
}

/** Does them in order, and says each. Throws at the first that fails. */
export async function perform(steps: readonly Step[], machine: Machine, say: (line: string) => void): Promise<void> {
  for (const step of steps) if (await done(step, machine)) say(told(step));
}

/** False if there was nothing to do. */
async function done(step: Step, { root, run }: Machine): Promise<boolean> {
  const at = (path: string) => join(root, path);
  if ("run" in step) {
    if (step.unless !== undefined && (await run(["getent", "passwd", step.unless])).code === 0) return false;
    const { code, output } = await run(step.run);
    if (code !== 0) throw new Error(`\`${step.run.join(" ")}\` failed (${code}): ${output}`);
    return true;
  }
  if ("write" in step) {
    if (step.keep && existsSync(at(step.write))) return false;
    replace(at(step.write), step.mode, (draft) => writeFileSync(draft, step.text, { mode: 0o600 }));
    return true;
  }
  if ("copy" in step) {
    replace(at(step.to), step.mode, (draft) => copyFileSync(step.copy, draft));
    return true;
  }
  if ("link" in step) {
    rmSync(at(step.link), { force: true });
    symlinkSync(step.to, at(step.link));
    return true;
  }
  if (!existsSync(at(step.remove))) return false;
  rmSync(at(step.remove));
  return true;
}

/** Whoever opens the file sees the old one or the new one: a program that runs from it goes on. */
function replace(path: string, fileMode: number, write: (draft: string) => void): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o755 });
  const draft = `${path}.new`;
  write(draft);
  chmodSync(draft, fileMode);
  renameSync(draft, path);
}

function mode(step: { readonly mode: number }): string {
  return step.mode.toString(8).padStart(4, "0");
}
