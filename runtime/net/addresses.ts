/**
 * Which addresses our requests may reach: public unicast ones and those that OUTBOUND_ALLOW names. Everything that is
 * not known to be public is refused.
 */
import ipaddr from "ipaddr.js";

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** OUTBOUND_ALLOW, parsed. */
export interface Allow {
  networks: [Address, number][];
  /** `host` or `host:port`, in lower case. */
  hosts: Set<string>;
}

const globalUnicast = ipaddr.IPv6.parseCIDR("2000::/3");

/**
 * Parses "10.0.0.0/8, 192.168.1.5, intranet.example, api.internal:8443, [fd00::1]:80"; throws for a wrong one.
 */
export function parseAllow(text: string): Allow {
  const allow: Allow = { networks: [], hosts: new Set() };
  for (const part of text.split(",").map((piece) => piece.trim().toLowerCase())) {
    if (part === "") continue;
    const network = parseNetwork(part);
    if (network) allow.networks.push(network);
    else allow.hosts.add(parseHost(part));
  }
  return allow;
}

/** Whether `address` may be reached for a URL of this host and port. */
export function mayReach(address: string, host: string, port: string, allow: Allow): boolean {
  const parsed = parseAddress(address);
  if (!parsed) return false;
  if (isPublic(parsed)) return true;
  const name = plainHost(host);
  if (allow.hosts.has(name) || allow.hosts.has(`${name}:${port}`)) return true;
  return allow.networks.some(([base, bits]) => base.kind() === parsed.kind() && parsed.match(base, bits));
}

/** The address in a URL's host, if it is one. The URL parser has normalised decimal, octal and hexadecimal forms. */
export function literalAddress(host: string): string | undefined {
  const bare = host.startsWith("[") ? host.slice(1, -1) : host;
  return ipaddr.isValid(bare) ? bare : undefined;
}

/** Whether the address is public, so that it needs no OUTBOUND_ALLOW. */
export function isPublicAddress(address: string): boolean {
  const parsed = parseAddress(address);
  return parsed !== undefined && isPublic(parsed);
}

/** A host name without the trailing dot and the brackets of an IPv6 address. */
export function plainHost(host: string): string {
  const bare = host.startsWith("[") ? host.slice(1, -1) : host;
  return bare.replace(/\.$/, "").toLowerCase();
}

function isPublic(address: Address): boolean {
  if (address.range() !== "unicast") return false;
  // Nothing outside 2000::/3 is routed yet: ::/96 (IPv4-compatible) and future ranges stay closed.
  return address instanceof ipaddr.IPv4 || address.match(globalUnicast);
}

/** `::ffff:10.0.0.1` is treated as the IPv4 address that it reaches. */
function parseAddress(text: string): Address | undefined {
  if (!ipaddr.isValid(text)) return undefined;
  return ipaddr.process(text);
}

function parseNetwork(part: string): [Address, number] | undefined {
  if (ipaddr.isValidCIDR(part)) return ipaddr.parseCIDR(part);
  const address = parseAddress(part);
  return address && [address, address.kind() === "ipv4" ? 32 : 128];
}

function parseHost(part: string): string {
  const match = /^(\[[\da-f:.]+\]|[\p{L}\p{M}\d_-]+(?:\.[\p{L}\p{M}\d_-]+)*)\.?(:\d{1,5})?$/u.exec(part);
  if (!match?.[1]) throw new Error(`must name networks (10.0.0.0/8), hosts or host:port, and "${part}" is none`);
  return plainHost(match[1]) + (match[2] ?? "");
}
