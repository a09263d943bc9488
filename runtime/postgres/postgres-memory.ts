import { totalmem } from "node:os";

const leastMegabytes = 128;
const mostMegabytes = 1024;

/**
 * How much memory the embedded server keeps pages in (`shared_buffers`) where nobody says it: an eighth of what this
 * machine or container has. A page that is not there is copied from the kernel's cache, 4 µs each: with 128 MB a filter
 * on 200 scattered records of a million took twice its time. What is not used yet takes no memory.
 */
export function cacheMegabytes(bytes: number = machineMemory()): number {
  return Math.min(mostMegabytes, Math.max(leastMegabytes, Math.floor(bytes / 8 / 2 ** 20)));
}

function machineMemory(): number {
  return Math.min(totalmem(), process.constrainedMemory() || Infinity);
}
