import { catalogue } from "studio";
import de from "./text/de.json" with { type: "json" };
import en from "./text/en.json" with { type: "json" };
import pl from "./text/pl.json" with { type: "json" };
import type { Reason } from "./log.ts";

export type Word = keyof typeof en;

export const { say } = catalogue(en, pl, de);

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
