/** What the pages of invitations say. */
export const en = {
  list: "People who were invited by mail and have not come in yet. A link works once, for seven days.",
  invite:
    "The person gets a mail with a link by which they set a password, or come in by a sign-in provider. Until then they are switched off.",
  one: "Resend it with another link, or delete it: the person who was added by it goes too.",
  email: "Where the mail goes. They can sign in with it.",
  login: "What they sign in with; without one it is the address.",
  language: "Of the mail; without one it is the account's.",
  role: "Without one it is user.",
  providers: "Sign-in providers",
  providersText: "Instead of setting a password, the person may come in by one of these, with this verified address.",
  privileges: "What the person may do beyond their role.",
};

export type Texts = Readonly<Record<keyof typeof en, string>>;

export const pl: Texts = {
  list: "Osoby zaproszone pocztą, które jeszcze nie weszły. Link działa raz, przez siedem dni.",
  invite:
    "Osoba dostanie wiadomość z linkiem, przez który ustawi hasło albo wejdzie przez dostawcę logowania. Do tego czasu jest wyłączona.",
  one: "Wyślij ponownie z nowym linkiem albo usuń: zniknie też osoba, która została nim dodana.",
  email: "Dokąd trafi wiadomość. Tym adresem można się logować.",
  login: "Czym się loguje; jeśli puste, adresem.",
  language: "Język wiadomości; jeśli pusty, język konta.",
  role: "Jeśli pusta, będzie to user.",
  providers: "Dostawcy logowania",
  providersText: "Zamiast ustawiać hasło osoba może wejść przez jednego z nich, z tym potwierdzonym adresem.",
  privileges: "Co osoba może ponad swoją rolę.",
};

export const de: Texts = {
  list: "Personen, die per E-Mail eingeladen wurden und noch nicht hereingekommen sind. Ein Link funktioniert einmal, sieben Tage lang.",
  invite:
    "Die Person erhält eine E-Mail mit einem Link, um ein Passwort festzulegen oder über einen Anmeldeanbieter hereinzukommen. Bis dahin ist sie ausgeschaltet.",
  one: "Mit einem neuen Link erneut senden oder löschen: Die Person, die damit angelegt wurde, verschwindet dann auch.",
  email: "Wohin die E-Mail geht. Damit kann man sich anmelden.",
  login: "Womit sie sich anmeldet; ohne Angabe mit der Adresse.",
  language: "Der E-Mail; ohne Angabe die des Kontos.",
  role: "Ohne Angabe ist es user.",
  providers: "Anmeldeanbieter",
  providersText:
    "Statt ein Passwort festzulegen, kann die Person mit dieser bestätigten Adresse über einen davon hereinkommen.",
  privileges: "Was die Person über ihre Rolle hinaus darf.",
};
