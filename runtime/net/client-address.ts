import ipaddr from "ipaddr.js";

/** Networks in CIDR form, parsed. */
export type Networks = readonly [ipaddr.IPv4 | ipaddr.IPv6, number][];

/** Parses "10.0.0.0/8, 127.0.0.1"; throws an Error that names the wrong part. */
export function parseNetworks(list: string): Networks {
  const parts = list.split(",").map((part) => part.trim());
  return parts.filter((part) => part !== "").map(parseNetwork);
}

function parseNetwork(part: string): [ipaddr.IPv4 | ipaddr.IPv6, number] {
  if (ipaddr.isValidCIDR(part)) {
    const [base, bits] = ipaddr.parseCIDR(part);
    // An address of version 4 in the form of version 6 is compared as version 4.
    const isMapped = base instanceof ipaddr.IPv6 && base.isIPv4MappedAddress() && bits >= 96;
    return isMapped ? [base.toIPv4Address(), bits - 96] : [base, bits];
  }
  if (ipaddr.isValid(part)) {
    const address = ipaddr.process(part);
    return [address, address.kind() === "ipv4" ? 32 : 128];
  }
  throw new Error(`has "${part}", which is neither an address nor a network such as 10.0.0.0/8`);
}

export function inNetworks(address: string, networks: Networks): boolean {
  if (networks.length === 0 || !ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  return networks.some(([base, bits]) => base.kind() === parsed.kind() && parsed.match(base, bits));
}

/** Whether an address is in the networks of "10.0.0.0/8, 127.0.0.1"; throws as parseNetworks does. */
export function networkTest(list: string): (address: string) => boolean {
  const networks = parseNetworks(list);
  return (address) => inNetworks(address, networks);
}

/**
 * The client's address: the peer's, or behind trusted proxies the last address in `X-Forwarded-For` that is not a
 * trusted proxy itself (the client can invent everything before it).
 */
export function clientAddress(peer: string, forwardedFor: string | null, trusted: Networks): string {
  let client = plain(peer);
  if (!forwardedFor || !inNetworks(client, trusted)) return client;
  for (const part of forwardedFor.split(",").toReversed()) {
    const address = part.trim();
    if (!ipaddr.isValid(address)) return client;
    client = plain(address);
    if (!inNetworks(client, trusted)) return client;
  }
  return client;
}

/** ::ffff:127.0.0.1 and 127.0.0.1 are the same client. */
function plain(address: string): string {
  return address.startsWith("::ffff:") && ipaddr.isValid(address) ? ipaddr.process(address).toString() : address;
}

/** Identifies a client for limits: an IPv6 customer has a whole /64 of addresses. */
export function limitKey(ip: string): string {
  if (!ip.includes(":") || !ipaddr.isValid(ip)) return ip;
  const address = ipaddr.process(ip);
  if (address.kind() === "ipv4") return address.toString();
  const groups = address.toByteArray().slice(0, 8);
  const network = [0, 2, 4, 6].map((at) => (((groups[at] ?? 0) << 8) | (groups[at + 1] ?? 0)).toString(16));
  return `${network.join(":")}::/64`;
}
