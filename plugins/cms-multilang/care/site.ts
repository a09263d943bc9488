/** Mistakes in a site's domains. Pure. */
import type { Domain } from "../render/addresses/addresses.ts";
import { finding, type Finding } from "./finding.ts";

export function domainFindings(domains: readonly Domain[], multilang: boolean): Finding[] {
  if (domains.length === 0)
    return [finding("no_domain", null, "has no domain: nobody can reach it, and its pages have no canonical address")];
  const found: Finding[] = [];
  if (multilang && domains.every(({ locale }) => locale === null))
    found.push(finding("domains_without_locale", null, "is multilang, but none of its domains has a locale"));
  const seen = new Map<string, Domain>();
  for (const domain of domains) {
    const bare = domain.name.replace(/^www\./, "");
    const same = [...seen.values()].find(
      (other) => other.name.replace(/^www\./, "") === bare || (domain.locale === other.locale && multilang),
    );
    if (same) {
      const why =
        same.name.replace(/^www\./, "") === bare
          ? "the same name apart from www."
          : `the same locale (${String(same.locale)})`;
      found.push(
        finding("domain_duplicate", null, `${domain.name} and ${same.name} have ${why}: both show the same pages`, {
          locale: domain.locale ?? undefined,
        }),
      );
    }
    seen.set(domain.name, domain);
  }
  return found;
}
