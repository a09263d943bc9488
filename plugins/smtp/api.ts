/** Sending through a mail server, for other plugins. */
export { hasControl, parseAddress, type Address } from "./address.ts";
export { checkDefinition as checkServer, serverOf, tlsModes, type TlsMode } from "./definition.ts";
export type { Mail } from "./message.ts";
export { sendMail, type OpenServer, type Outcome } from "./send.ts";
