import { totalmem } from "node:os";

const leastMegabytes = 128;
const mostMegabytes = 1024;

/**
 * The embedded server's default page cache (`shared_buffers`): an eighth of the memory of this machine or container.
 * Other pages are copied from the kernel's cache at 4 µs each: with 128 MB, a filter for 200 scattered records of a
 * million took twice as long. Unused cache takes no memory.
 */
export function cacheMegabytes(bytes: number = machineMemory()): number {
  return Math.min(mostMegabytes, Math.max(leastMegabytes, Math.floor(bytes / 8 / 2 ** 20)));
}

/** Bytes of this machine or container. */
export function machineMemory(): number {
  return Math.min(totalmem(), process.constrainedMemory() || Infinity);
}
