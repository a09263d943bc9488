/** The step `mail.send`: a mail through the account's own server, with its queue, limits and log. behaviour B.9, B.12. */
import { invalid, Type, type BaseContext } from "platform";
import { mailId, mailTexts, type Mail, type MailTemplate } from "../mail/api.ts";
import type { StepType } from "./api.ts";

const mostReceivers = 20;
const template = "flow";
const words = mailTexts({ subject: "{{ subject }}", paragraphs: [], written: "text" });

/** An account may give it other words around what the flow says. */
export const flowMail: MailTemplate = {
  code: template,
  doc: "what a flow writes to somebody",
  values: {
    subject: { doc: "the subject that the flow gives", example: "Your order 12" },
    text: { doc: "the text that the flow gives", example: "Thank you, it is on its way.", needed: true },
  },
  texts: { en: words, pl: words, de: words },
};

const params = Type.Object({
  to: Type.String({ maxLength: 2000, description: `an address, or up to ${mostReceivers} with commas between` }),
  subject: Type.String({ minLength: 1, maxLength: 500 }),
  text: Type.String({ minLength: 1, maxLength: 100_000, description: "paragraphs stay as they are" }),
});

/** `mails` are ids of the log. A step that runs again, because a server died, sends nothing twice. */
export function mailStep({
  mail,
  transaction,
}: Pick<BaseContext, "transaction"> & { readonly mail: Mail }): StepType<typeof params> {
  return {
    type: "mail.send",
    doc: "sends a mail through the mail server of the account",
    params,
    privilege: "mails",
    async run({ accountId, params: { to, subject, text }, key }) {
      const receivers = to.split(/[,;]/).flatMap((one) => one.trim() || []);
      if (receivers.length === 0) throw invalid({ to: ["can't be blank"] });
      if (receivers.length > mostReceivers) throw invalid({ to: [`has more than ${mostReceivers} addresses`] });
      const mails = await transaction(async (tx) => {
        const ids: string[] = [];
        for (const [at, receiver] of receivers.entries())
          ids.push(
            await mail.send({ accountId, to: receiver, template, values: { subject, text }, id: mailId(key, at) }, tx),
          );
        return ids;
      });
      return { mails };
    },
  };
}
