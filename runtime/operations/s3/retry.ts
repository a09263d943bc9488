/** Which failures of an S3 server pass by themselves, and how long to wait for that. */
import { setTimeout as pause } from "node:timers/promises";
import { OutboundFault, type OutboundResponse } from "../../outbound/outbound.ts";
import { textOf } from "./xml.ts";

export class S3Fault extends Error {
  override name = "S3Fault";
  /** Undefined if the answer's form is at fault. */
  readonly status: number | undefined;
  readonly isPassing: boolean;

  constructor(message: string, { status, isPassing }: { readonly status?: number; readonly isPassing: boolean }) {
    super(message);
    this.status = status;
    this.isPassing = isPassing;
  }
}

const passingCodes = new Set(["SlowDown", "RequestTimeout", "InternalError", "ServiceUnavailable", "OperationAborted"]);
const passingStatuses = new Set([408, 429, 500, 502, 503, 504]);

/** Undefined for success. A completed upload may be answered by 200 with an error in it. */
export function faultOf(answer: OutboundResponse, what: string): S3Fault | undefined {
  const { status, headers } = answer;
  const mayHoldFault = status === 200 && headers.get("content-type")?.includes("xml") === true;
  const xml = status >= 300 || mayHoldFault ? answer.text().slice(0, 10_000) : "";
  const code = xml.includes("<Error>") ? textOf(xml, "Code") : undefined;
  if (status < 300 && code === undefined) return undefined;
  const said = [code, textOf(xml, "Message")].filter((part) => part !== undefined).join(": ");
  const isPassing = passingStatuses.has(status) || (code !== undefined && passingCodes.has(code));
  const to = status >= 300 && status < 400 ? " (is S3_ENDPOINT or S3_REGION that of the bucket?)" : "";
  return new S3Fault(`S3 answered ${status} to ${what}${said && `: ${said}`}${to}`, { status, isPassing });
}

/** In milliseconds, between the attempts of work that nobody waits for: six in half a minute. */
const patientWaits = [250, 1_000, 4_000, 10_000, 20_000];
const passingKinds = new Set(["connect", "dns", "timeout", "closed"]);

export interface Retrying {
  readonly waits?: readonly number[];
  readonly sleep?: (ms: number) => Promise<void>;
}

/** Every request of ours may be repeated. */
export async function retrying<T>(
  { waits = patientWaits, sleep = pause }: Retrying,
  run: () => Promise<T>,
): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await run();
    } catch (error) {
      const wait = waits[attempt];
      if (wait === undefined || !mayPass(error)) throw error;
      // Not all processes at the same moment.
      await sleep(wait * (0.5 + Math.random() / 2));
    }
  }
}

function mayPass(error: unknown): boolean {
  if (error instanceof S3Fault) return error.isPassing;
  return error instanceof OutboundFault && passingKinds.has(error.kind);
}
