/** Asks a server whether it is this installation, and what of the request arrives there (plugins/doctor). */
import { rootCertificates } from "node:tls";
import { codeOf, isObject } from "../../base/values.ts";
import { createSecrets, type Secrets } from "../../base/secrets.ts";
import { reasonOf } from "../../plugin/finding.ts";

export interface ReceivedRequest {
  readonly host: string;
  readonly ip: string;
  readonly forwardedHost: string | undefined;
  readonly forwardedProto: string | undefined;
  readonly forwardedFor: string | undefined;
  readonly bytes: number;
}

export type ProbeResult =
  /** This installation. */
  | { readonly by: "us"; readonly seen: ReceivedRequest }
  /** Something else, or a proxy that does not let it through. */
  | {
      readonly by: "another";
      readonly status: number;
      readonly location: string;
      /** Whether it answers as a Corestead does. */
      readonly isAlike: boolean;
    }
  | { readonly by: "nobody"; readonly reason: string; readonly code: string };

export interface ProbeOptions {
  /** Instead of the host of the address. */
  readonly host?: string;
  readonly bytes?: number;
  /** Accepts any certificate: the connection goes to a port of this machine. */
  readonly anyCertificate?: boolean;
}

/** Undefined secrets: the installation cannot be told from another one, and is not asked. */
export interface Probe {
  readonly secrets: Secrets | undefined;
  /** A certificate authority to trust besides the public ones. */
  readonly ca: string;
}

const timeoutMs = 15_000;

export function probeWith(secretKey: string | undefined, ca: string): Probe {
  return { secrets: secretKey === undefined ? undefined : createSecrets(secretKey), ca };
}

export async function askServer(probe: Probe, origin: string, options: ProbeOptions = {}): Promise<ProbeResult> {
  const body = new Uint8Array(options.bytes ?? 0);
  try {
    const response = await fetch(`${origin}/core/probe`, { ...optionsOf(probe, options), method: "POST", body });
    const text = await response.text();
    const seen = response.status === 200 ? seenIn(text) : undefined;
    if (seen) return { by: "us", seen };
    const { status, headers } = response;
    const isAlike = headers.has("x-request-id") && text.includes("not found");
    return { by: "another", status, location: headers.get("location") ?? "", isAlike };
  } catch (error) {
    return { by: "nobody", reason: reasonOf(error), code: codeOf(error) };
  }
}

/** Whether the first of two events arrives well before the second; undefined if they do not come. */
export async function streamsEvents(probe: Probe, origin: string): Promise<boolean | undefined> {
  try {
    const response = await fetch(`${origin}/core/probe/events`, optionsOf(probe, {}));
    if (response.status !== 200 || !response.body) return undefined;
    const decoder = new TextDecoder();
    let text = "";
    let first: number | undefined;
    for await (const chunk of response.body) {
      text += decoder.decode(chunk, { stream: true });
      if (text.includes("data: 1")) first ??= performance.now();
    }
    if (first === undefined || !text.includes("data: 2")) return undefined;
    return performance.now() - first > atOnceMs;
  } catch {
    return undefined;
  }
}

function optionsOf({ secrets, ca }: Probe, { host, anyCertificate = false }: ProbeOptions) {
  return {
    redirect: "manual" as const,
    keepalive: false,
    headers: { ...(host && { host }), "x-corestead-probe": secrets?.sign("probe", `${Date.now()}`) ?? "" },
    signal: AbortSignal.timeout(timeoutMs),
    tls: {
      ...(host && { serverName: host.replace(/:\d+$/, "") }),
      ...(ca && { ca: [...rootCertificates, ca] }),
      rejectUnauthorized: !anyCertificate,
    },
  };
}

/** Half of the server's pause between the two. */
const atOnceMs = 1_000;

function seenIn(body: string): ReceivedRequest | undefined {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return undefined;
  }
  if (!isObject(value)) return undefined;
  const text = (name: string): string | undefined => {
    const found = value[name];
    return typeof found === "string" ? found : undefined;
  };
  const [host, ip, { bytes }] = [text("host"), text("ip"), value];
  if (host === undefined || ip === undefined || typeof bytes !== "number") return undefined;
  return {
    host,
    ip,
    bytes,
    forwardedHost: text("forwarded_host"),
    forwardedProto: text("forwarded_proto"),
    forwardedFor: text("forwarded_for"),
  };
}
