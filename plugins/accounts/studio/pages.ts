import { page, type StudioPage } from "studio/page";

const privilege = "users";
const person = () => import("./people/Person.svelte");
const invite = () => import("./people/Invite.svelte");
const unit = () => import("./people/Unit.svelte");
const units = () => import("./people/Units.svelte");

export const pages: StudioPage[] = [
  page("account/people", ["People", "Osoby", "Personen"], () => import("./people/People.svelte"), { privilege }),
  page("account/people/new", ["Invite a person", "Zaproś osobę", "Person einladen"], invite, { privilege }),
  page("account/people/:id", ["Person", "Osoba", "Person"], person, { privilege }),
  page("account/teams", ["Teams", "Zespoły", "Teams"], units, { privilege }),
  page("account/teams/new", ["New team", "Nowy zespół", "Neues Team"], unit, { privilege }),
  page("account/teams/:id", ["Team", "Zespół", "Team"], unit, { privilege }),
  page("account/departments", ["Departments", "Działy", "Abteilungen"], units, { privilege }),
  page("account/departments/new", ["New department", "Nowy dział", "Neue Abteilung"], unit, { privilege }),
  page("account/departments/:id", ["Department", "Dział", "Abteilung"], unit, { privilege }),
  page("account/groups", ["Groups", "Grupy", "Gruppen"], units, { privilege }),
  page("account/groups/new", ["New group", "Nowa grupa", "Neue Gruppe"], unit, { privilege }),
  page("account/groups/:id", ["Group", "Grupa", "Gruppe"], unit, { privilege }),
  page("account/access", ["Access", "Dostęp", "Zugriff"], () => import("./access/Access.svelte"), { privilege }),
  page("account/invitations/new", ["Invite a person", "Zaproś osobę", "Person einladen"], invite, { privilege }),
  page(
    "account/invitations",
    ["Invitations", "Zaproszenia", "Einladungen"],
    () => import("./sign-in/Invitations.svelte"),
    { privilege },
  ),
  page(
    "account/invitations/:id",
    ["Invitation", "Zaproszenie", "Einladung"],
    () => import("./sign-in/Invitation.svelte"),
    { privilege },
  ),
  page(
    "account/sign_in_providers/:id",
    ["Sign-in provider", "Dostawca logowania", "Anmeldeanbieter"],
    () => import("./sign-in/Provider.svelte"),
    { privilege: "sign_in_providers" },
  ),
  page("account/settings", ["Settings", "Ustawienia", "Einstellungen"], () => import("./settings/Settings.svelte"), {
    icon: "settings",
    privilege: "settings",
  }),
  page("account/me", ["My account", "Moje konto", "Mein Konto"], () => import("./me/Me.svelte"), { icon: "user" }),
];
