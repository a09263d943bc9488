import type { Identify } from "./auth.ts";
import type { HostDoor } from "./door.ts";
import type { Idempotency } from "./idempotency/idempotency.ts";
import type { Route } from "./route.ts";
import type { Secrets } from "../base/secrets.ts";
import type { Notice } from "../events/models.ts";
import type { Networks } from "../net/client-address.ts";
import type { Log } from "../system/log.ts";
import type { Metrics } from "../system/metrics.ts";

/** The origin of a connection. */
export interface Peer {
  readonly address: string;
  /** Whether it came by our own https. */
  readonly secure: boolean;
}

/** The context of whatever answers requests. */
export interface HttpContext {
  readonly routes: readonly Route[];
  readonly identify: Identify;
  readonly idempotency: Idempotency;
  readonly log: Log;
  /** Told what the log of activity names though no record changes. */
  readonly notice: (notice: Notice) => void;
  readonly maxBodyBytes: number;
  readonly secrets: Pick<Secrets, "verify">;
  readonly metrics: Metrics;
  /** For `Strict-Transport-Security`; 0 or undefined omits the header. */
  readonly hstsSeconds?: number;
  /** BASE_URL, or "". */
  readonly baseUrl?: string;
  readonly trustedProxies: Networks;
  /** Once aborted, a connection ends with its answer: the next request goes to a process that stays. */
  readonly draining?: AbortSignal;
  /** The peer address of a request's connection. */
  readonly peer: (request: Request) => Peer;
  readonly door?: HostDoor | undefined;
}
