import type { Reason } from "./log.ts";
import type { Word } from "./words.ts";

/** What a reason is called in the texts. */
export const reasonWords: Readonly<Record<Reason, Word>> = {
  "refused-address": "refusedAddress",
  dns: "dns",
  connect: "connect",
  tls: "tls",
  timeout: "timeout",
  "too-large": "tooLarge",
  redirect: "redirect",
  gone: "gone",
  status: "status",
  "not allowed": "notAllowed",
};
