/** What the pages of links and new passwords say. */
import { languageOf, type Language } from "platform";

export interface Words {
  readonly language: Language;
  readonly forgot: string;
  readonly forgotText: string;
  readonly login: string;
  readonly send: string;
  readonly sent: string;
  readonly notSetUp: string;
  readonly set: string;
  readonly setFor: (login: string) => string;
  readonly password: string;
  readonly rule: (least: number) => string;
  readonly unfit: string;
  readonly save: string;
  readonly done: string;
  readonly signIn: string;
  readonly ended: string;
  readonly endedText: string;
  readonly refused: string;
  readonly wait: string;
  readonly confirm: string;
  readonly confirmText: (email: string, login: string) => string;
  readonly confirmIt: string;
  readonly confirmed: string;
  readonly confirmTaken: string;
}

const en: Words = {
  language: "en",
  forgot: "Forgot password?",
  forgotText: "Enter your login or e-mail address. You get a mail with a link to set a new password.",
  login: "Login or e-mail",
  send: "Send the link",
  sent: "If somebody here has this login or address, a mail is on its way. The link in it works for 60 minutes.",
  notSetUp: "This server does not send mails. Ask your administrator for a new password.",
  set: "Set a password",
  setFor: (login) => `For the login ${login}.`,
  password: "New password",
  rule: (least) => `At least ${least} characters.`,
  unfit: "This password cannot be used, e.g. because it is in a list of stolen ones. Choose another one.",
  save: "Set the password",
  done: "Your password is set, and all other sessions have ended.",
  signIn: "Sign in",
  ended: "This link does not work",
  endedText: "It was used, has expired, or was replaced by another one.",
  refused: "This form must be sent from this server's own pages.",
  wait: "Too many attempts. Try again later.",
  confirm: "Confirm an e-mail address",
  confirmText: (email, login) =>
    `${email} becomes the address of the login ${login}: to sign in with, and for new passwords. If this login is not yours, close this page.`,
  confirmIt: "Confirm the address",
  confirmed: "The address is confirmed.",
  confirmTaken: "The address cannot be used: it is somebody else’s meanwhile.",
};

const pl: Words = {
  language: "pl",
  forgot: "Nie pamiętasz hasła?",
  forgotText: "Podaj login lub adres e-mail. Dostaniesz wiadomość z linkiem do ustawienia nowego hasła.",
  login: "Login lub adres e-mail",
  send: "Wyślij link",
  sent: "Jeśli ktoś ma tu taki login lub adres, wiadomość jest w drodze. Link w niej działa przez 60 minut.",
  notSetUp: "Ten serwer nie wysyła poczty. O nowe hasło poproś administratora.",
  set: "Ustaw hasło",
  setFor: (login) => `Dla loginu ${login}.`,
  password: "Nowe hasło",
  rule: (least) => `Minimalna liczba znaków: ${least}.`,
  unfit: "Tego hasła nie można użyć, np. dlatego, że jest na liście skradzionych. Wybierz inne.",
  save: "Ustaw hasło",
  done: "Hasło zostało ustawione, a wszystkie inne sesje zakończone.",
  signIn: "Zaloguj się",
  ended: "Ten link nie działa",
  endedText: "Został użyty, wygasł albo zastąpił go inny.",
  refused: "Formularz musi pochodzić ze stron tego serwera.",
  wait: "Zbyt wiele prób. Spróbuj ponownie później.",
  confirm: "Potwierdź adres e-mail",
  confirmText: (email, login) =>
    `${email} staje się adresem loginu ${login}: do logowania i do nowych haseł. Jeśli to nie Twój login, zamknij tę stronę.`,
  confirmIt: "Potwierdź adres",
  confirmed: "Adres został potwierdzony.",
  confirmTaken: "Tego adresu nie można użyć: należy już do kogoś innego.",
};

const de: Words = {
  language: "de",
  forgot: "Passwort vergessen?",
  forgotText:
    "Geben Sie Ihren Benutzernamen oder Ihre E-Mail-Adresse ein. Sie erhalten eine E-Mail mit einem Link, um ein neues Passwort festzulegen.",
  login: "Benutzername oder E-Mail-Adresse",
  send: "Link senden",
  sent: "Wenn hier jemand diesen Benutzernamen oder diese Adresse hat, ist eine E-Mail unterwegs. Der Link darin ist 60 Minuten gültig.",
  notSetUp: "Dieser Server verschickt keine E-Mails. Bitten Sie Ihre Administration um ein neues Passwort.",
  set: "Passwort festlegen",
  setFor: (login) => `Für den Benutzernamen ${login}.`,
  password: "Neues Passwort",
  rule: (least) => `Mindestens ${least} Zeichen.`,
  unfit:
    "Dieses Passwort kann nicht verwendet werden, z. B. weil es in einer Liste gestohlener steht. Wählen Sie ein anderes.",
  save: "Passwort festlegen",
  done: "Ihr Passwort ist festgelegt, und alle anderen Sitzungen sind beendet.",
  signIn: "Anmelden",
  ended: "Dieser Link funktioniert nicht",
  endedText: "Er wurde verwendet, ist abgelaufen oder durch einen anderen ersetzt.",
  refused: "Das Formular muss von den Seiten dieses Servers kommen.",
  wait: "Zu viele Versuche. Bitte später erneut versuchen.",
  confirm: "E-Mail-Adresse bestätigen",
  confirmText: (email, login) =>
    `${email} wird die Adresse des Benutzernamens ${login}: zum Anmelden und für neue Passwörter. Wenn das nicht Ihr Benutzername ist, schließen Sie diese Seite.`,
  confirmIt: "Adresse bestätigen",
  confirmed: "Die Adresse ist bestätigt.",
  confirmTaken: "Die Adresse kann nicht verwendet werden: Sie gehört inzwischen jemand anderem.",
};

export const allWords: Readonly<Record<Language, Words>> = { en, pl, de };

export const wordsOf = ({ request }: { readonly request: Request }): Words => allWords[languageOf(request)];
