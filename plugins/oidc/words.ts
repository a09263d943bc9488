/** What the pages of providers say. */
import type { Language } from "platform";
import type { Reason } from "./refusal.ts";

export interface Words {
  readonly language: Language;
  readonly signIn: string;
  /** Of a button without a label of its own. */
  readonly by: (provider: string) => string;
  readonly back: string;
  readonly accept: (provider: string) => string;
  readonly backToInvitation: string;
  readonly signedOut: string;
  readonly signOutBy: (provider: string) => string;
  readonly signedOutBy: (provider: string) => string;
  readonly reasons: Readonly<Record<Reason, string>>;
}

const en: Words = {
  language: "en",
  signIn: "Sign in",
  by: (provider) => `Sign in with ${provider}`,
  back: "Back to the sign-in page",
  accept: (provider) => `Accept the invitation with ${provider}`,
  backToInvitation: "Back to the invitation",
  signedOut: "Signed out",
  signOutBy: (provider) => `Sign out of ${provider} too`,
  signedOutBy: (provider) => `You are signed out here and at ${provider}.`,
  reasons: {
    expired: "This sign-in has expired, was used already, or began in another browser. Please start again.",
    declined: "The provider did not sign you in, or you cancelled it.",
    unreachable: "The provider does not answer. Try again later, or sign in with your password.",
    wrong: "The provider’s answer is not valid, so it was not accepted. Tell your administrator.",
    gone: "There is no such way to sign in here.",
    elsewhere: "This page is not at this server’s own address. An administrator must set BASE_URL.",
    wait: "Too many attempts. Try again in a minute.",
    unverified: "The provider has not verified your e-mail address. Verify it there, then try again.",
    domain: "People with an e-mail address of this domain may not sign in here.",
    unknown: "Nobody here has your e-mail address. Ask an administrator to add you.",
    taken:
      "Somebody here has this e-mail address already, and this provider may not sign them in. Sign in with your password.",
    passkey:
      "The person with this e-mail address signs in by a passkey, which this provider is not trusted to replace. Sign in with it and remove it, then come back.",
    linked: "Somebody else of this provider is linked to this e-mail address. Ask an administrator.",
    switchedOff: "Your access here is switched off. Ask an administrator.",
    invitationEnded: "The invitation was used, has expired, or was replaced by another one.",
    invitationEmail:
      "This invitation was sent to another e-mail address than the one that you have at the provider. Go back and set a password, or choose another account there.",
    noRole: "The provider gives you no role here. Ask an administrator.",
  },
};

const pl: Words = {
  language: "pl",
  signIn: "Zaloguj się",
  by: (provider) => `Zaloguj się przez ${provider}`,
  back: "Wróć do strony logowania",
  accept: (provider) => `Przyjmij zaproszenie przez ${provider}`,
  backToInvitation: "Wróć do zaproszenia",
  signedOut: "Wylogowano",
  signOutBy: (provider) => `Wyloguj się także z ${provider}`,
  signedOutBy: (provider) => `Wylogowano Cię tutaj i u dostawcy ${provider}.`,
  reasons: {
    expired: "To logowanie wygasło, zostało już użyte albo zaczęło się w innej przeglądarce. Zacznij od nowa.",
    declined: "Dostawca Cię nie zalogował albo logowanie zostało anulowane.",
    unreachable: "Dostawca nie odpowiada. Spróbuj ponownie później albo zaloguj się hasłem.",
    wrong: "Odpowiedź dostawcy jest nieprawidłowa i nie została przyjęta. Zawiadom administratora.",
    gone: "Nie ma tu takiego sposobu logowania.",
    elsewhere: "Ta strona nie jest pod własnym adresem serwera. Administrator musi ustawić BASE_URL.",
    wait: "Zbyt wiele prób. Spróbuj ponownie za minutę.",
    unverified: "Dostawca nie potwierdził Twojego adresu e-mail. Potwierdź go u dostawcy i spróbuj ponownie.",
    domain: "Osoby z adresem e-mail z tej domeny nie mogą się tu logować.",
    unknown: "Nikt tutaj nie ma Twojego adresu e-mail. Poproś administratora o dodanie.",
    taken: "Ktoś tutaj ma już ten adres e-mail, a ten dostawca nie może go zalogować. Zaloguj się hasłem.",
    passkey:
      "Osoba z tym adresem e-mail loguje się kluczem dostępu, którego ten dostawca nie może zastąpić. Zaloguj się nim, usuń go i wróć tutaj.",
    linked: "Z tym adresem e-mail powiązano już kogoś innego u tego dostawcy. Zwróć się do administratora.",
    switchedOff: "Twój dostęp jest wyłączony. Zwróć się do administratora.",
    invitationEnded: "Zaproszenie zostało użyte, wygasło albo zastąpiło je inne.",
    invitationEmail:
      "To zaproszenie wysłano na inny adres e-mail niż ten, który masz u dostawcy. Wróć i ustaw hasło albo wybierz tam inne konto.",
    noRole: "Dostawca nie przyznaje Ci tutaj żadnej roli. Zwróć się do administratora.",
  },
};

const de: Words = {
  language: "de",
  signIn: "Anmelden",
  by: (provider) => `Mit ${provider} anmelden`,
  back: "Zurück zur Anmeldung",
  accept: (provider) => `Einladung mit ${provider} annehmen`,
  backToInvitation: "Zurück zur Einladung",
  signedOut: "Abgemeldet",
  signOutBy: (provider) => `Auch bei ${provider} abmelden`,
  signedOutBy: (provider) => `Sie sind hier und bei ${provider} abgemeldet.`,
  reasons: {
    expired:
      "Diese Anmeldung ist abgelaufen, wurde schon verwendet oder begann in einem anderen Browser. Bitte beginnen Sie von vorn.",
    declined: "Der Anbieter hat Sie nicht angemeldet, oder die Anmeldung wurde abgebrochen.",
    unreachable:
      "Der Anbieter antwortet nicht. Versuchen Sie es später noch einmal oder melden Sie sich mit Ihrem Passwort an.",
    wrong: "Die Antwort des Anbieters ist ungültig und wurde nicht angenommen. Wenden Sie sich an Ihre Administration.",
    gone: "Diese Art der Anmeldung gibt es hier nicht.",
    elsewhere:
      "Diese Seite liegt nicht unter der eigenen Adresse des Servers. Die Administration muss BASE_URL setzen.",
    wait: "Zu viele Versuche. Bitte in einer Minute erneut versuchen.",
    unverified:
      "Der Anbieter hat Ihre E-Mail-Adresse nicht bestätigt. Bestätigen Sie sie dort und versuchen Sie es noch einmal.",
    domain: "Mit einer E-Mail-Adresse dieser Domain kann man sich hier nicht anmelden.",
    unknown: "Niemand hat hier Ihre E-Mail-Adresse. Bitten Sie Ihre Administration, Sie hinzuzufügen.",
    taken:
      "Diese E-Mail-Adresse hat hier schon jemand, den dieser Anbieter nicht anmelden darf. Melden Sie sich mit Ihrem Passwort an.",
    passkey:
      "Die Person mit dieser E-Mail-Adresse meldet sich mit einem Passkey an, den dieser Anbieter nicht ersetzen darf. Melden Sie sich damit an, entfernen Sie ihn und kommen Sie dann zurück.",
    linked:
      "Mit dieser E-Mail-Adresse ist schon jemand anderes bei diesem Anbieter verknüpft. Wenden Sie sich an Ihre Administration.",
    switchedOff: "Ihr Zugang ist abgeschaltet. Wenden Sie sich an Ihre Administration.",
    invitationEnded: "Die Einladung wurde verwendet, ist abgelaufen oder durch eine andere ersetzt.",
    invitationEmail:
      "Diese Einladung ging an eine andere E-Mail-Adresse als die, die Sie beim Anbieter haben. Gehen Sie zurück und legen Sie ein Passwort fest, oder wählen Sie dort ein anderes Konto.",
    noRole: "Der Anbieter gibt Ihnen hier keine Rolle. Wenden Sie sich an Ihre Administration.",
  },
};

export const allWords: Readonly<Record<Language, Words>> = { en, pl, de };
