/** What the pages of invitations say. */
export const en = {
  list: "People who were invited by mail and have not set a password yet. A link works once, for seven days.",
  invite: "The person gets a mail with a link by which they set a password. Until then they are switched off.",
  one: "Resend it with another link, or delete it: the person who was added by it goes too.",
  email: "Where the mail goes. They can sign in with it.",
  login: "What they sign in with; without one it is the address.",
  language: "Of the mail; without one it is the account's.",
  role: "Without one it is user.",
  privileges: "What the person may do beyond their role.",
};

export type Texts = Readonly<Record<keyof typeof en, string>>;

export const pl: Texts = {
  list: "Osoby zaproszone pocztą, które nie ustawiły jeszcze hasła. Link działa raz, przez siedem dni.",
  invite: "Osoba dostanie wiadomość z linkiem, przez który ustawi hasło. Do tego czasu jest wyłączona.",
  one: "Wyślij ponownie z nowym linkiem albo usuń: zniknie też osoba, która została nim dodana.",
  email: "Dokąd trafi wiadomość. Tym adresem można się logować.",
  login: "Czym się loguje; jeśli puste, adresem.",
  language: "Język wiadomości; jeśli pusty, język konta.",
  role: "Jeśli pusta, będzie to user.",
  privileges: "Co osoba może ponad swoją rolę.",
};

export const de: Texts = {
  list: "Personen, die per E-Mail eingeladen wurden und noch kein Passwort festgelegt haben. Ein Link funktioniert einmal, sieben Tage lang.",
  invite: "Die Person erhält eine E-Mail mit einem Link, um ein Passwort festzulegen. Bis dahin ist sie ausgeschaltet.",
  one: "Mit einem neuen Link erneut senden oder löschen: Die Person, die damit angelegt wurde, verschwindet dann auch.",
  email: "Wohin die E-Mail geht. Damit kann man sich anmelden.",
  login: "Womit sie sich anmeldet; ohne Angabe mit der Adresse.",
  language: "Der E-Mail; ohne Angabe die des Kontos.",
  role: "Ohne Angabe ist es user.",
  privileges: "Was die Person über ihre Rolle hinaus darf.",
};
