/** The line that the log gets for every request. */
import type { Log } from "../system/log.ts";

export function logRequest(
  log: Log,
  { method }: Request,
  route: string,
  { requestId, status, ms }: { requestId: string; status: number; ms: number },
): void {
  // 502 is another server's failure, reported to the caller.
  const level = status < 500 || status === 502 ? "info" : status === 503 ? "warn" : "error";
  log[level]("request", { request_id: requestId, method, route, status, ms: Math.round(ms * 100) / 100 });
}
