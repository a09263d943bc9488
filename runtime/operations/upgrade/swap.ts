/** Puts another executable in the place of one, and back. Whoever starts it gets the one or the other, never half. */
import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
} from "node:fs";

export const oldOf = (current: string) => `${current}.old`;

/**
 * `current` becomes a copy of `file`; what it was stays beside it, with `.old`. If `isSame`, an upgrade to this version was
 * interrupted when it had put it in place: what is `.old` then is still the version before.
 */
export function swapIn(file: string, current: string, isSame: boolean): void {
  const draft = `${current}.new`;
  try {
    copyFileSync(file, draft, constants.COPYFILE_EXCL);
  } catch (cause) {
    const isTaken = cause instanceof Error && "code" in cause && cause.code === "EEXIST";
    throw new Error(
      isTaken
        ? `another upgrade is going on; if none is, remove ${draft}`
        : `nothing can be written beside ${current}: are you root?`,
      { cause },
    );
  }
  try {
    chmodSync(draft, 0o755);
    sync(draft);
    if (!isSame || !existsSync(oldOf(current))) {
      rmSync(oldOf(current), { force: true });
      linkSync(current, oldOf(current));
    }
    renameSync(draft, current);
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Undoes it. */
export function swapBack(current: string): void {
  renameSync(oldOf(current), current);
}

function sync(path: string): void {
  const file = openSync(path, constants.O_RDONLY);
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
