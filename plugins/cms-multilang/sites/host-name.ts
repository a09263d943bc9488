/** A domain's name as it is kept: a host in lower case and in ASCII, with a port only where one is given. behaviour B.11. */

export type CleanHost = { readonly host: string } | { readonly mistake: string };

const reserved = "is not a public host name: numeric addresses and names without a dot are refused";
const mistake = "must be a host name such as www.example.com, without https:// and without a path";

export function cleanHost(given: string): CleanHost {
  const text = given.trim();
  // URL reads far more than names of hosts: what would be something else in it is refused before.
  if (text === "" || text.length > 300 || /[\s/?#@\\%[\]]/.test(text)) return { mistake };
  // A port of its own kind would be left out by URL under http, so it is read apart.
  const [, name = "", port] = /^([^:]*)(?::(\d{1,5}))?$/.exec(text) ?? [];
  const address = `http://${name}/`;
  if (name === "" || !URL.canParse(address)) return { mistake };
  const host = new URL(address).hostname.replace(/\.$/, "");
  // "1.2.3" would be the address 1.2.0.3.
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
