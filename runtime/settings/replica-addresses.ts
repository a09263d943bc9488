export interface ReplicaAddress {
  /** `db2:5433`, for people. */
  readonly name: string;
  readonly url: string;
}

/**
 * One address for each host that a connection string names: `postgres://core@db2,db3:5433/core`. There may be several
 * strings, with commas between them. Pure.
 */
export function replicaAddresses(urls: string): ReplicaAddress[] {
  return urls.split(/,(?=postgres(?:ql)?:\/\/)/).flatMap(hostsOf);
}

function hostsOf(url: string): ReplicaAddress[] {
  const scheme = url.indexOf("://") + 3;
  const slash = url.slice(scheme).search(/[/?]/);
  const end = slash < 0 ? url.length : scheme + slash;
  const authority = url.slice(scheme, end);
  const at = authority.lastIndexOf("@") + 1;
  const [before, after] = [url.slice(0, scheme) + authority.slice(0, at), url.slice(end)];
  const names = authority.slice(at).split(",");
  return names.filter((name) => name !== "").map((name) => ({ name, url: before + name + after }));
}
