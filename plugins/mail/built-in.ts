/** The mails about people's access, with their words in `text/`; other plugins register their own. */
import { textsIn, type MailTemplate, type MailValue } from "./api.ts";
import de from "./text/de.json" with { type: "json" };
import en from "./text/en.json" with { type: "json" };
import pl from "./text/pl.json" with { type: "json" };

function template(code: keyof typeof en, doc: string, values: Readonly<Record<string, MailValue>>): MailTemplate {
  return { code, doc, values, texts: textsIn({ en: en[code], pl: pl[code], de: de[code] }) };
}

const name = { doc: "the name of the person who gets the mail", example: "Anna Nowak" };
const login = { doc: "what the person signs in with", example: "anna" };
const address = { doc: "the network address from where", example: "203.0.113.7" };
const email = { doc: "the new address", example: "anna@example.org" };
const time = { doc: "when, in the account's time zone", example: "2026-01-31 10:00" };

const linkTo = (page: string, doc: string): MailValue => ({
  doc,
  example: `https://core.example.com/${page}?token=…`,
  needed: true,
});

export const testTemplate = template("test", "tries out whether mails arrive", {});

export const builtIn: readonly MailTemplate[] = [
  template("invitation", "invites a person, who then sets a password", {
    name,
    login,
    inviter: { doc: "who invites", example: "Jan Kowalski" },
    link: linkTo("set_password", "where the password is set"),
    days: { doc: "how many days the link works", example: "7" },
  }),
  template("password_reset", "lets a person set a new password who has forgotten the old one", {
    name,
    login,
    link: linkTo("set_password", "where the new password is set"),
    minutes: { doc: "how many minutes the link works", example: "60" },
  }),
  template("password_changed", "tells a person that their password was set by a link", { name, login, address, time }),
  template("email_confirmation", "asks whether a new e-mail address of a person is theirs; goes to that address", {
    name,
    login,
    link: linkTo("confirm_email", "where the address is confirmed"),
    hours: { doc: "how many hours the link works", example: "24" },
  }),
  template("email_change_asked", "tells a person's present address that another one is to take its place", {
    name,
    login,
    email,
    time,
  }),
  template("email_changed", "tells the address that a person had until now that they have another one, or none", {
    name,
    login,
    email: { ...email, doc: "the new address, or –" },
    time,
  }),
  template("sign_in_alert", "tells a person of a sign-in from a browser that is new", {
    name,
    login,
    address,
    browser: { doc: "the browser", example: "Firefox 140 on Linux" },
    time,
  }),
  template(
    "sign_in_linked",
    "tells a person that a sign-in provider opens their login from now on, and nothing from before does",
    {
      name,
      login,
      provider: { doc: "the provider's name", example: "Example ID" },
      time,
    },
  ),
  testTemplate,
];
