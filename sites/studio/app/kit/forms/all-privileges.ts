import { get } from "../../api.ts";
import type { Privilege } from "./privileges.ts";

let asked: Promise<readonly Privilege[]> | undefined;

/** All that there are. They change with the plugins only, and so with the server. */
export function allPrivileges(): Promise<readonly Privilege[]> {
  asked ??= get("/account/privileges.json").then(({ json }) => (Array.isArray(json) ? json : []));
  asked.catch(() => (asked = undefined));
  return asked;
}
