/** What the page of a provider says. */
export const en = {
  lead: "People sign in here with an account that they have at an OpenID Connect provider. Only administrators change this.",
  redirect: "Redirect address",
  signedOut:
    "For “sign out there”, also this one, as an address to come back to after signing out (post-logout redirect).",
  backchannel:
    "If the provider offers back-channel logout, register this one: who signs out there is then signed out here.",
  sign_out_there:
    "People who sign out here are led to the provider, to be signed out there too. If it offers no such page, only the session here ends.",
  redirectText:
    "Register this address at the provider, exactly as it stands here. Then press Test, and sign in by it in another browser.",
  name: "What people call the provider. The button of the sign-in page has this name.",
  code: "A part of the redirect address: …/login/with/CODE/callback. Made of the name if it is empty.",
  issuer: "The provider’s own name, e.g. https://login.example.com. Also the address of its discovery document.",
  client_id: "From the provider, where this server is registered as a client.",
  client_secret: "From the provider. It is encrypted and never shown. Empty keeps the present one.",
  create_people: "Adds people at their first sign-in, if their address is verified and of a domain below.",
  email_domains: "Only people with addresses of these domains come in for the first time. * is every domain.",
  link_by_email:
    "A person who is here already may sign in by a provider’s account with the same verified address. Only for providers where nobody can take another’s address.",
  default_role: "Of people whom this provider adds. Empty: nobody without a role by claim comes in.",
  role_claim:
    "What the provider calls the list of groups or roles, e.g. groups or realm_access.roles. Sets the role at each sign-in.",
  roles: 'Which group gives which role: { "core-admins": "admin" }',
  team_claim: "The list that decides on teams, e.g. groups.",
  teams: 'Which group is which team, by its number: { "sales": 3 }',
  trust_second_factor: "The provider asks for a second factor itself, so none is asked for here.",
  verified_claim: "What says that an address is verified. Microsoft: xms_edov.",
  label: "Of the button, instead of “Sign in with …”.",
  scopes: "What the provider is asked for; openid is one of them.",
};

export type Texts = Readonly<Record<keyof typeof en, string>>;

export const pl: Texts = {
  lead: "Osoby logują się tu kontem, które mają u dostawcy OpenID Connect. Zmieniają to tylko administratorzy.",
  redirect: "Adres powrotu",
  signedOut: "Do „Sign out there” także ten adres, jako adres powrotu po wylogowaniu (post-logout redirect).",
  backchannel:
    "Jeśli dostawca oferuje back-channel logout, zarejestruj ten adres: kto wyloguje się tam, będzie wylogowany i tutaj.",
  sign_out_there:
    "Kto wyloguje się tutaj, trafia do dostawcy, by wylogować się i tam. Jeśli dostawca nie ma takiej strony, kończy się tylko tutejsza sesja.",
  redirectText:
    "Zarejestruj ten adres u dostawcy dokładnie w tej postaci. Potem naciśnij „Testuj” i zaloguj się w innej przeglądarce.",
  name: "Tak nazywa się dostawca. Ta nazwa jest na przycisku strony logowania.",
  code: "Część adresu powrotu: …/login/with/KOD/callback. Puste pole: powstaje z nazwy.",
  issuer: "Własna nazwa dostawcy, np. https://login.example.com. Może być też adresem jego dokumentu discovery.",
  client_id: "Od dostawcy, u którego ten serwer jest zarejestrowany jako klient.",
  client_secret: "Od dostawcy. Jest szyfrowany i nigdy nie jest pokazywany. Puste pole: zostaje obecny.",
  create_people: "Dodaje osoby przy pierwszym logowaniu, jeśli ich adres jest potwierdzony i z domeny podanej niżej.",
  email_domains: "Tylko osoby z adresami z tych domen wejdą po raz pierwszy. * to każda domena.",
  link_by_email:
    "Osoba, która już tu jest, może logować się kontem dostawcy z tym samym potwierdzonym adresem. Tylko dla dostawców, u których nikt nie przejmie cudzego adresu.",
  default_role: "Dla osób dodanych przez tego dostawcę. Puste pole: bez roli z listy nikt nie wejdzie.",
  role_claim:
    "Jak dostawca nazywa listę grup lub ról, np. groups albo realm_access.roles. Rola zmienia się przy każdym logowaniu.",
  roles: 'Która grupa daje którą rolę: { "core-admins": "admin" }',
  team_claim: "Lista, która decyduje o zespołach, np. groups.",
  teams: 'Która grupa to który zespół, według numeru: { "sales": 3 }',
  trust_second_factor: "Dostawca sam pyta o drugi składnik, więc tutaj nie jest wymagany.",
  verified_claim: "Co mówi, że adres jest potwierdzony. Microsoft: xms_edov.",
  label: "Na przycisku, zamiast „Zaloguj się przez …”.",
  scopes: "O co pytany jest dostawca; musi tu być openid.",
};

export const de: Texts = {
  lead: "Personen melden sich hier mit einem Konto an, das sie bei einem OpenID-Connect-Anbieter haben. Nur die Administration ändert das.",
  redirect: "Rückkehradresse",
  signedOut: "Für „Sign out there“ auch diese, als Rückkehradresse nach dem Abmelden (post-logout redirect).",
  backchannel:
    "Wenn der Anbieter Back-Channel Logout kann, registrieren Sie diese: Wer sich dort abmeldet, ist dann auch hier abgemeldet.",
  sign_out_there:
    "Wer sich hier abmeldet, kommt zum Anbieter, um sich auch dort abzumelden. Hat dieser keine solche Seite, endet nur die Sitzung hier.",
  redirectText:
    "Registrieren Sie diese Adresse beim Anbieter genau so, wie sie hier steht. Drücken Sie dann „Testen“ und melden Sie sich in einem anderen Browser an.",
  name: "So heißt der Anbieter. Dieser Name steht auf der Schaltfläche der Anmeldeseite.",
  code: "Ein Teil der Rückkehradresse: …/login/with/CODE/callback. Leer: wird aus dem Namen gebildet.",
  issuer:
    "Der eigene Name des Anbieters, z. B. https://login.example.com, oder die Adresse seines Discovery-Dokuments.",
  client_id: "Vom Anbieter, bei dem dieser Server als Client registriert ist.",
  client_secret: "Vom Anbieter. Es wird verschlüsselt und nie gezeigt. Leer: das jetzige bleibt.",
  create_people:
    "Legt Personen bei ihrer ersten Anmeldung an, wenn ihre Adresse bestätigt und von einer Domain unten ist.",
  email_domains: "Nur Personen mit Adressen dieser Domains kommen zum ersten Mal herein. * ist jede Domain.",
  link_by_email:
    "Wer schon hier ist, darf sich mit einem Konto des Anbieters anmelden, das dieselbe bestätigte Adresse hat. Nur für Anbieter, bei denen niemand eine fremde Adresse übernehmen kann.",
  default_role: "Für Personen, die dieser Anbieter anlegt. Leer: ohne Rolle aus der Liste kommt niemand herein.",
  role_claim:
    "Wie der Anbieter die Liste der Gruppen oder Rollen nennt, z. B. groups oder realm_access.roles. Setzt die Rolle bei jeder Anmeldung.",
  roles: 'Welche Gruppe welche Rolle gibt: { "core-admins": "admin" }',
  team_claim: "Die Liste, die über Teams entscheidet, z. B. groups.",
  teams: 'Welche Gruppe welches Team ist, nach seiner Nummer: { "sales": 3 }',
  trust_second_factor: "Der Anbieter fragt selbst nach einem zweiten Faktor, also wird hier keiner verlangt.",
  verified_claim: "Was sagt, dass eine Adresse bestätigt ist. Microsoft: xms_edov.",
  label: "Auf der Schaltfläche, anstelle von „Mit … anmelden“.",
  scopes: "Wonach der Anbieter gefragt wird; openid gehört dazu.",
};
