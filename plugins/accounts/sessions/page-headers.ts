export type Headers = Readonly<Record<string, string>>;

/** Of a page with one style, by its hash. `more`: what else the policy allows. */
export function pageHeaders(styleHash: string, more = "img-src 'self'"): Headers {
  return {
    "content-security-policy": `default-src 'none'; style-src '${styleHash}'; ${more}; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; report-uri /csp-report`,
    "cache-control": "no-store",
  };
}
