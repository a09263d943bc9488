/**
 * The stored form of a domain's name: a host in lower case and in ASCII, with a port only if one is given. behaviour
 * B.11.
 */

export type CleanHost = { readonly host: string } | { readonly mistake: string };

const reserved = "is not a public host name: numeric addresses and names without a dot are refused";
const mistake = "must be a host name such as www.example.com, without https:// and without a path";

export function cleanHost(given: string): CleanHost {
  const text = given.trim();
  // URL accepts far more than host names, so anything it would read differently is refused first.
  if (text === "" || text.length > 300 || /[\s/?#@\\%[\]]/.test(text)) return { mistake };
  // URL drops port 80 under http, so the port is parsed separately.
  const [, name = "", port] = /^([^:]*)(?::(\d{1,5}))?$/.exec(text) ?? [];
  const address = `http://${name}/`;
  if (name === "" || !URL.canParse(address)) return { mistake };
  const host = new URL(address).hostname.replace(/\.$/, "");
  // "1.2.3" would become the address 1.2.0.3.
  if (/^[\d.]+$/.test(host) && host !== name) return { mistake };
  if (/^[\d.]+$/.test(host) || !host.includes(".")) return { mistake: reserved };
  if (host.length > 253 || !host.split(".").every(isLabel)) return { mistake };
  if (port === undefined) return { host };
  const number = Number(port);
  return number >= 1 && number <= 65535 ? { host: `${host}:${number}` } : { mistake };
}

function isLabel(label: string): boolean {
  return /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/.test(label);
}
