/** A request as the curl call that does the same ("Show as API"). */

export interface Call {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly body?: unknown;
  readonly ifMatch?: string;
  /** Without a token, as a visitor calls it. */
  readonly anonymous?: true;
}

export function curlOf({ method, path, body, ifMatch, anonymous }: Call, origin: string): string {
  const lines = [
    `curl ${method === "GET" ? "" : `-X ${method} `}${quoted(origin + path)}`,
    ...(anonymous ? [] : [`-H "Authorization: Bearer $TOKEN"`]),
    ...(ifMatch === undefined ? [] : [`-H ${quoted(`If-Match: ${ifMatch}`)}`]),
    ...(body === undefined
      ? []
      : [`-H 'Content-Type: application/json'`, `-d ${quoted(JSON.stringify(body, null, 2))}`]),
  ];
  return lines.join(" \\\n  ");
}

/** For a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
