export type Headers = Readonly<Record<string, string>>;

/** Of a page with one style, by its hash. */
export function pageHeaders(styleHash: string, images = "img-src 'self'"): Headers {
  return {
    "content-security-policy": `default-src 'none'; style-src '${styleHash}'; ${images}; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; report-uri /csp-report`,
    "cache-control": "no-store",
  };
}
