/** The mails about people's access; other plugins register their own. */
import { mailTexts, type MailTemplate } from "./api.ts";

const person = { doc: "the name of the person who gets the mail", example: "Anna Nowak" };
const login = { doc: "what the person signs in with", example: "anna" };

const invitation: MailTemplate = {
  code: "invitation",
  doc: "invites a person, who then sets a password",
  values: {
    name: person,
    login,
    inviter: { doc: "who invites", example: "Jan Kowalski" },
    link: { doc: "where the password is set", example: "https://core.example.com/set_password?token=…", needed: true },
    days: { doc: "how many days the link works", example: "7" },
  },
  texts: {
    en: mailTexts({
      subject: "{{ inviter }} invites you to {{ account.name }}",
      paragraphs: [
        "Hello {{ name }},",
        "{{ inviter }} has made an account for you at {{ account.name }}. Your login is {{ login }}. Set a password to get started.",
      ],
      button: { label: "Set a password", value: "link" },
      notes: ["The link works once, for {{ days }} days. If you did not expect this mail, you can ignore it."],
    }),
    pl: mailTexts({
      subject: "{{ inviter }} zaprasza Cię do {{ account.name }}",
      paragraphs: [
        "Cześć {{ name }},",
        "{{ inviter }} zakłada dla Ciebie konto w {{ account.name }}. Twój login to {{ login }}. Aby zacząć, ustaw hasło.",
      ],
      button: { label: "Ustaw hasło", value: "link" },
      notes: ["Link działa raz, przez {{ days }} dni. Jeśli nie wiesz, skąd ta wiadomość, po prostu ją zignoruj."],
    }),
    de: mailTexts({
      subject: "{{ inviter }} lädt Sie zu {{ account.name }} ein",
      paragraphs: [
        "Guten Tag {{ name }},",
        "{{ inviter }} hat bei {{ account.name }} ein Konto für Sie angelegt. Ihr Benutzername ist {{ login }}. Legen Sie jetzt ein Passwort fest.",
      ],
      button: { label: "Passwort festlegen", value: "link" },
      notes: [
        "Der Link funktioniert einmal und ist {{ days }} Tage gültig. Wenn Sie diese E-Mail nicht erwartet haben, können Sie sie ignorieren.",
      ],
    }),
  },
};

const passwordReset: MailTemplate = {
  code: "password_reset",
  doc: "lets a person set a new password who has forgotten the old one",
  values: {
    name: person,
    login,
    link: {
      doc: "where the new password is set",
      example: "https://core.example.com/set_password?token=…",
      needed: true,
    },
    minutes: { doc: "how many minutes the link works", example: "60" },
  },
  texts: {
    en: mailTexts({
      subject: "A new password for {{ account.name }}",
      paragraphs: [
        "Hello {{ name }},",
        "somebody, probably you, has asked for a new password for the login {{ login }} at {{ account.name }}.",
      ],
      button: { label: "Set a new password", value: "link" },
      notes: [
        "The link works once, for {{ minutes }} minutes. If it was not you, ignore this mail: your password stays as it is.",
      ],
    }),
    pl: mailTexts({
      subject: "Nowe hasło do {{ account.name }}",
      paragraphs: [
        "Cześć {{ name }},",
        "ktoś, prawdopodobnie Ty, poprosił o nowe hasło dla loginu {{ login }} w {{ account.name }}.",
      ],
      button: { label: "Ustaw nowe hasło", value: "link" },
      notes: [
        "Link działa raz, przez {{ minutes }} minut. Jeśli prośba nie pochodzi od Ciebie, zignoruj tę wiadomość: hasło się nie zmieni.",
      ],
    }),
    de: mailTexts({
      subject: "Ein neues Passwort für {{ account.name }}",
      paragraphs: [
        "Guten Tag {{ name }},",
        "jemand, vermutlich Sie, hat für den Benutzernamen {{ login }} bei {{ account.name }} ein neues Passwort angefordert.",
      ],
      button: { label: "Neues Passwort festlegen", value: "link" },
      notes: [
        "Der Link funktioniert einmal und ist {{ minutes }} Minuten gültig. Wenn Sie das nicht waren, ignorieren Sie diese E-Mail: Ihr Passwort bleibt, wie es ist.",
      ],
    }),
  },
};

const passwordChanged: MailTemplate = {
  code: "password_changed",
  doc: "tells a person that their password was set by a link",
  values: {
    name: person,
    login,
    address: { doc: "the network address from where", example: "203.0.113.7" },
    time: { doc: "when, in the account's time zone", example: "2026-01-31 10:00" },
  },
  texts: {
    en: mailTexts({
      subject: "Your password for {{ account.name }} was changed",
      paragraphs: [
        "Hello {{ name }},",
        "the password of the login {{ login }} at {{ account.name }} was changed on {{ time }}, from the address {{ address }}. All other sessions have ended.",
        "If it was not you, tell your administrator at once.",
      ],
    }),
    pl: mailTexts({
      subject: "Hasło do {{ account.name }} zostało zmienione",
      paragraphs: [
        "Cześć {{ name }},",
        "hasło loginu {{ login }} w {{ account.name }} zostało zmienione: {{ time }}, z adresu {{ address }}. Wszystkie inne sesje zostały zakończone.",
        "Jeśli zmiana nie pochodzi od Ciebie, natychmiast zawiadom administratora.",
      ],
    }),
    de: mailTexts({
      subject: "Ihr Passwort für {{ account.name }} wurde geändert",
      paragraphs: [
        "Guten Tag {{ name }},",
        "das Passwort des Benutzernamens {{ login }} bei {{ account.name }} wurde geändert: {{ time }}, von der Adresse {{ address }}. Alle anderen Sitzungen wurden beendet.",
        "Wenn Sie das nicht waren, wenden Sie sich sofort an Ihre Administration.",
      ],
    }),
  },
};

const email = { doc: "the new address", example: "anna@example.org" };
const time = { doc: "when, in the account's time zone", example: "2026-01-31 10:00" };

const emailConfirmation: MailTemplate = {
  code: "email_confirmation",
  doc: "asks whether a new e-mail address of a person is theirs; goes to that address",
  values: {
    name: person,
    login,
    link: {
      doc: "where the address is confirmed",
      example: "https://core.example.com/confirm_email?token=…",
      needed: true,
    },
    hours: { doc: "how many hours the link works", example: "24" },
  },
  texts: {
    en: mailTexts({
      subject: "Confirm your e-mail address for {{ account.name }}",
      paragraphs: [
        "Hello {{ name }},",
        "the login {{ login }} at {{ account.name }} is to have this e-mail address. Confirm that it is yours.",
      ],
      button: { label: "Confirm the address", value: "link" },
      notes: [
        "The link works once, for {{ hours }} hours. If this login is not yours, ignore this mail: nothing changes.",
      ],
    }),
    pl: mailTexts({
      subject: "Potwierdź swój adres e-mail w {{ account.name }}",
      paragraphs: [
        "Cześć {{ name }},",
        "login {{ login }} w {{ account.name }} ma mieć ten adres e-mail. Potwierdź, że należy on do Ciebie.",
      ],
      button: { label: "Potwierdź adres", value: "link" },
      notes: [
        "Link działa raz, przez {{ hours }} godz. Jeśli to nie Twój login, zignoruj tę wiadomość: nic się nie zmieni.",
      ],
    }),
    de: mailTexts({
      subject: "Bestätigen Sie Ihre E-Mail-Adresse für {{ account.name }}",
      paragraphs: [
        "Guten Tag {{ name }},",
        "der Benutzername {{ login }} bei {{ account.name }} soll diese E-Mail-Adresse erhalten. Bestätigen Sie, dass sie Ihnen gehört.",
      ],
      button: { label: "Adresse bestätigen", value: "link" },
      notes: [
        "Der Link funktioniert einmal und ist {{ hours }} Stunden gültig. Wenn das nicht Ihr Benutzername ist, ignorieren Sie diese E-Mail: Es ändert sich nichts.",
      ],
    }),
  },
};

const emailChangeAsked: MailTemplate = {
  code: "email_change_asked",
  doc: "tells a person's present address that another one is to take its place",
  values: { name: person, login, email, time },
  texts: {
    en: mailTexts({
      subject: "Your e-mail address for {{ account.name }} is to change",
      paragraphs: [
        "Hello {{ name }},",
        "on {{ time }} somebody signed in as {{ login }} at {{ account.name }} asked for the e-mail address {{ email }}. It takes the place of this one once it is confirmed.",
        "If it was not you, set a new password at once, which stops this, and tell your administrator.",
      ],
    }),
    pl: mailTexts({
      subject: "Twój adres e-mail w {{ account.name }} ma się zmienić",
      paragraphs: [
        "Cześć {{ name }},",
        "{{ time }} osoba zalogowana jako {{ login }} w {{ account.name }} podała adres e-mail {{ email }}. Zastąpi on ten adres po potwierdzeniu.",
        "Jeśli to nie Ty, natychmiast ustaw nowe hasło, co wstrzyma zmianę, i zawiadom administratora.",
      ],
    }),
    de: mailTexts({
      subject: "Ihre E-Mail-Adresse für {{ account.name }} soll sich ändern",
      paragraphs: [
        "Guten Tag {{ name }},",
        "am {{ time }} hat jemand, der als {{ login }} bei {{ account.name }} angemeldet war, die E-Mail-Adresse {{ email }} angegeben. Sie ersetzt diese Adresse, sobald sie bestätigt ist.",
        "Wenn Sie das nicht waren, legen Sie sofort ein neues Passwort fest, was die Änderung verhindert, und wenden Sie sich an Ihre Administration.",
      ],
    }),
  },
};

const emailChanged: MailTemplate = {
  code: "email_changed",
  doc: "tells the address that a person had until now that they have another one, or none",
  values: { name: person, login, email: { ...email, doc: "the new address, or –" }, time },
  texts: {
    en: mailTexts({
      subject: "Your e-mail address for {{ account.name }} was changed",
      paragraphs: [
        "Hello {{ name }},",
        "since {{ time }} the login {{ login }} at {{ account.name }} has another e-mail address: {{ email }}. This one no longer counts there.",
        "If you did not expect that, tell your administrator at once.",
      ],
    }),
    pl: mailTexts({
      subject: "Twój adres e-mail w {{ account.name }} został zmieniony",
      paragraphs: [
        "Cześć {{ name }},",
        "od {{ time }} login {{ login }} w {{ account.name }} ma inny adres e-mail: {{ email }}. Ten adres już się tam nie liczy.",
        "Jeśli ta zmiana Cię zaskakuje, natychmiast zawiadom administratora.",
      ],
    }),
    de: mailTexts({
      subject: "Ihre E-Mail-Adresse für {{ account.name }} wurde geändert",
      paragraphs: [
        "Guten Tag {{ name }},",
        "seit {{ time }} hat der Benutzername {{ login }} bei {{ account.name }} eine andere E-Mail-Adresse: {{ email }}. Diese hier gilt dort nicht mehr.",
        "Wenn Sie das nicht erwartet haben, wenden Sie sich sofort an Ihre Administration.",
      ],
    }),
  },
};

const signInAlert: MailTemplate = {
  code: "sign_in_alert",
  doc: "tells a person of a sign-in from a browser that is new",
  values: {
    name: person,
    login,
    address: { doc: "the network address from where", example: "203.0.113.7" },
    browser: { doc: "the browser", example: "Firefox 140 on Linux" },
    time: { doc: "when, in the account's time zone", example: "2026-01-31 10:00" },
  },
  texts: {
    en: mailTexts({
      subject: "A new sign-in at {{ account.name }}",
      paragraphs: [
        "Hello {{ name }},",
        "somebody has signed in at {{ account.name }} with your login {{ login }}, from a browser that was not used before.",
        "When: {{ time }}\nAddress: {{ address }}\nBrowser: {{ browser }}",
        "If it was you, there is nothing to do. If not, set a new password, which ends all other sessions, and tell your administrator.",
      ],
    }),
    pl: mailTexts({
      subject: "Nowe logowanie do {{ account.name }}",
      paragraphs: [
        "Cześć {{ name }},",
        "na Twój login {{ login }} zalogowano się w {{ account.name }} z przeglądarki, która nie była dotąd używana.",
        "Kiedy: {{ time }}\nAdres: {{ address }}\nPrzeglądarka: {{ browser }}",
        "Jeśli to Ty, nie musisz nic robić. Jeśli nie, ustaw nowe hasło, co zakończy wszystkie inne sesje, i zawiadom administratora.",
      ],
    }),
    de: mailTexts({
      subject: "Neue Anmeldung bei {{ account.name }}",
      paragraphs: [
        "Guten Tag {{ name }},",
        "mit Ihrem Benutzernamen {{ login }} wurde bei {{ account.name }} eine Anmeldung vorgenommen, mit einem bisher nicht verwendeten Browser.",
        "Wann: {{ time }}\nAdresse: {{ address }}\nBrowser: {{ browser }}",
        "Wenn Sie das waren, müssen Sie nichts tun. Wenn nicht, legen Sie ein neues Passwort fest, was alle anderen Sitzungen beendet, und wenden Sie sich an Ihre Administration.",
      ],
    }),
  },
};

const signInLinked: MailTemplate = {
  code: "sign_in_linked",
  doc: "tells a person that a sign-in provider opens their login from now on, and nothing from before does",
  values: { name: person, login, provider: { doc: "the provider's name", example: "Example ID" }, time },
  texts: {
    en: mailTexts({
      subject: "{{ provider }} signs you in at {{ account.name }} from now on",
      paragraphs: [
        "Hello {{ name }},",
        "on {{ time }} somebody whom {{ provider }} knows by this e-mail address signed in at {{ account.name }}. The login {{ login }} is theirs from now on.",
        "Its password, passkeys and sessions have ended, and its API tokens are switched off until you switch them on again. What you have made there goes on as before.",
        "If it was not you, tell your administrator at once.",
      ],
    }),
    pl: mailTexts({
      subject: "{{ provider }} loguje Cię odtąd do {{ account.name }}",
      paragraphs: [
        "Cześć {{ name }},",
        "{{ time }} do {{ account.name }} zalogowała się osoba, którą {{ provider }} zna pod tym adresem e-mail. Odtąd należy do niej login {{ login }}.",
        "Jego hasło, klucze dostępu i sesje wygasły, a tokeny API są wyłączone, aż włączysz je ponownie. To, co tam powstało, działa dalej.",
        "Jeśli to nie Ty, natychmiast zawiadom administratora.",
      ],
    }),
    de: mailTexts({
      subject: "{{ provider }} meldet Sie ab jetzt bei {{ account.name }} an",
      paragraphs: [
        "Guten Tag {{ name }},",
        "am {{ time }} hat sich bei {{ account.name }} jemand angemeldet, den {{ provider }} unter dieser E-Mail-Adresse kennt. Der Benutzername {{ login }} gehört ab jetzt dieser Person.",
        "Passwort, Passkeys und Sitzungen sind beendet, und die API-Tokens sind abgeschaltet, bis Sie sie wieder einschalten. Was Sie dort angelegt haben, läuft weiter.",
        "Wenn Sie das nicht waren, wenden Sie sich sofort an Ihre Administration.",
      ],
    }),
  },
};

/** To try out whether mails arrive. */
export const testTemplate: MailTemplate = {
  code: "test",
  doc: "tries out whether mails arrive",
  values: {},
  texts: {
    en: mailTexts({
      subject: "Mails of {{ account.name }} arrive",
      paragraphs: ["This is a test: {{ account.name }} can send mails."],
    }),
    pl: mailTexts({
      subject: "Poczta z {{ account.name }} dochodzi",
      paragraphs: ["To jest próba: {{ account.name }} może wysyłać wiadomości."],
    }),
    de: mailTexts({
      subject: "E-Mails von {{ account.name }} kommen an",
      paragraphs: ["Das ist ein Test: {{ account.name }} kann E-Mails versenden."],
    }),
  },
};

export const builtIn: readonly MailTemplate[] = [
  invitation,
  passwordReset,
  passwordChanged,
  emailConfirmation,
  emailChangeAsked,
  emailChanged,
  signInAlert,
  signInLinked,
  testTemplate,
];
