/**
 * Who changes what everybody's mails depend on. A link in a mail is a key: whoever chooses the server that gets it, or
 * the words around it, could ask for an administrator's new password and read the link.
 */
import { forbidden, type Caller } from "platform";
import type { MailTemplate } from "./api.ts";

/** Throws the 403 for all but administrators whose token is not narrowed. */
export function mustMayRedirect({ user, narrowedTo }: Caller): void {
  if (user.role !== "admin" || narrowedTo.length > 0)
    throw forbidden(
      "only administrators, with a token that is not narrowed, change the mail server and mails with a link",
    );
}

/** The same for the words of mails that carry a link; other words are for all with `mails`. */
export function mustMayReword(caller: Caller, template: MailTemplate | undefined): void {
  if (Object.values(template?.values ?? {}).some(({ needed }) => needed)) mustMayRedirect(caller);
}
