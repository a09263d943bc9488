/** What the functions of this plugin share. */
import type { BaseContext } from "platform";
import type { Authority } from "./acme.ts";
import type { KnownHosts } from "./hosts.ts";

export interface CertificatesContext extends BaseContext {
  readonly hosts: KnownHosts;
  readonly authority: Authority;
  /** Whether a port of this installation answers HTTP-01. */
  readonly answersHttp: boolean;
}
