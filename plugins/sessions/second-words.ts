/** What the pages of the second step say. */
import type { Language } from "platform";

export interface SecondWords {
  readonly title: string;
  readonly text: string;
  readonly code: string;
  readonly goOn: string;
  readonly startAgain: string;
  readonly wrong: string;
  readonly expired: string;
  readonly setUp: string;
  readonly setUpText: string;
  readonly picture: string;
  readonly key: string;
  readonly codes: string;
  readonly codesText: string;
  readonly kept: string;
  readonly passkey: string;
  readonly passkeyText: string;
  readonly passkeyOrCode: string;
  readonly passkeyFailed: string;
  readonly needsScript: string;
  readonly byPassword: string;
}

const en: SecondWords = {
  title: "Confirm that it is you",
  text: "Enter the code that your authenticator app shows, or one of your recovery codes.",
  code: "Code",
  goOn: "Continue",
  startAgain: "Start again",
  wrong: "Wrong code. Each code works once.",
  expired: "This sign-in has expired. Please start again.",
  setUp: "Set up a second factor",
  setUpText:
    "This account requires one. Scan the picture with an authenticator app, then enter the code that it shows.",
  picture: "QR code for the authenticator app",
  key: "Or type this key into the app:",
  codes: "Your recovery codes",
  codesText: "Each lets you in once if you lose your app. Keep them in a safe place: they are not shown again.",
  kept: "I have kept them – continue",
  passkey: "Use a passkey",
  passkeyText: "Confirm with your fingerprint, your face or the PIN of your device.",
  passkeyOrCode: "Use your passkey, or enter one of your codes.",
  passkeyFailed: "That did not work. Try again, or sign in with your password.",
  needsScript: "Passkeys need JavaScript.",
  byPassword: "Sign in with your password",
};

const pl: SecondWords = {
  title: "Potwierdź, że to Ty",
  text: "Wpisz kod z aplikacji uwierzytelniającej albo jeden z kodów zapasowych.",
  code: "Kod",
  goOn: "Dalej",
  startAgain: "Zacznij od nowa",
  wrong: "Nieprawidłowy kod. Każdy kod działa tylko raz.",
  expired: "To logowanie wygasło. Zacznij od nowa.",
  setUp: "Ustaw drugi składnik logowania",
  setUpText: "To konto go wymaga. Zeskanuj obrazek aplikacją uwierzytelniającą, a potem wpisz kod, który pokaże.",
  picture: "Kod QR dla aplikacji uwierzytelniającej",
  key: "Albo wpisz w aplikacji ten klucz:",
  codes: "Twoje kody zapasowe",
  codesText:
    "Każdy wpuści Cię raz, jeśli stracisz aplikację. Zachowaj je w bezpiecznym miejscu: nie pokażemy ich ponownie.",
  kept: "Mam je zapisane – dalej",
  passkey: "Użyj klucza dostępu",
  passkeyText: "Potwierdź odciskiem palca, twarzą albo kodem PIN urządzenia.",
  passkeyOrCode: "Użyj klucza dostępu albo wpisz jeden ze swoich kodów.",
  passkeyFailed: "Nie udało się. Spróbuj ponownie albo zaloguj się hasłem.",
  needsScript: "Klucze dostępu wymagają JavaScriptu.",
  byPassword: "Zaloguj się hasłem",
};

const de: SecondWords = {
  title: "Bestätigen Sie, dass Sie es sind",
  text: "Geben Sie den Code Ihrer Authenticator-App oder einen Ihrer Wiederherstellungscodes ein.",
  code: "Code",
  goOn: "Weiter",
  startAgain: "Von vorn beginnen",
  wrong: "Falscher Code. Jeder Code gilt nur einmal.",
  expired: "Diese Anmeldung ist abgelaufen. Bitte beginnen Sie von vorn.",
  setUp: "Zweiten Faktor einrichten",
  setUpText:
    "Dieses Konto verlangt einen. Scannen Sie das Bild mit einer Authenticator-App und geben Sie dann ihren Code ein.",
  picture: "QR-Code für die Authenticator-App",
  key: "Oder geben Sie diesen Schlüssel in die App ein:",
  codes: "Ihre Wiederherstellungscodes",
  codesText:
    "Jeder lässt Sie einmal hinein, wenn Sie Ihre App verlieren. Bewahren Sie sie sicher auf: Sie werden nicht noch einmal gezeigt.",
  kept: "Ich habe sie verwahrt – weiter",
  passkey: "Passkey verwenden",
  passkeyText: "Bestätigen Sie mit Fingerabdruck, Gesicht oder der PIN Ihres Geräts.",
  passkeyOrCode: "Verwenden Sie Ihren Passkey oder geben Sie einen Ihrer Codes ein.",
  passkeyFailed: "Das hat nicht geklappt. Versuchen Sie es noch einmal oder melden Sie sich mit Ihrem Passwort an.",
  needsScript: "Passkeys brauchen JavaScript.",
  byPassword: "Mit dem Passwort anmelden",
};

export const secondWords: Readonly<Record<Language, SecondWords>> = { en, pl, de };
