import type { StudioPage } from "studio";

const privilege = "users";
const person = () => import("./people/Person.svelte");
const invite = () => import("./people/Invite.svelte");
const unit = () => import("./people/Unit.svelte");
const units = () => import("./people/Units.svelte");

export const pages: StudioPage[] = [
  {
    path: "account/people",
    title: { en: "People", pl: "Osoby", de: "Personen" },
    privilege,
    load: () => import("./people/People.svelte"),
  },
  {
    path: "account/people/new",
    title: { en: "Invite a person", pl: "Zaproś osobę", de: "Person einladen" },
    privilege,
    load: invite,
  },
  { path: "account/people/:id", title: { en: "Person", pl: "Osoba", de: "Person" }, privilege, load: person },
  { path: "account/teams", title: { en: "Teams", pl: "Zespoły", de: "Teams" }, privilege, load: units },
  { path: "account/teams/new", title: { en: "New team", pl: "Nowy zespół", de: "Neues Team" }, privilege, load: unit },
  { path: "account/teams/:id", title: { en: "Team", pl: "Zespół", de: "Team" }, privilege, load: unit },
  {
    path: "account/departments",
    title: { en: "Departments", pl: "Działy", de: "Abteilungen" },
    privilege,
    load: units,
  },
  {
    path: "account/departments/new",
    title: { en: "New department", pl: "Nowy dział", de: "Neue Abteilung" },
    privilege,
    load: unit,
  },
  { path: "account/departments/:id", title: { en: "Department", pl: "Dział", de: "Abteilung" }, privilege, load: unit },
  { path: "account/groups", title: { en: "Groups", pl: "Grupy", de: "Gruppen" }, privilege, load: units },
  {
    path: "account/groups/new",
    title: { en: "New group", pl: "Nowa grupa", de: "Neue Gruppe" },
    privilege,
    load: unit,
  },
  { path: "account/groups/:id", title: { en: "Group", pl: "Grupa", de: "Gruppe" }, privilege, load: unit },
  {
    path: "account/access",
    title: { en: "Access", pl: "Dostęp", de: "Zugriff" },
    privilege,
    load: () => import("./access/Access.svelte"),
  },
  {
    path: "account/invitations/new",
    title: { en: "Invite a person", pl: "Zaproś osobę", de: "Person einladen" },
    privilege,
    load: invite,
  },
  {
    path: "account/invitations",
    title: { en: "Invitations", pl: "Zaproszenia", de: "Einladungen" },
    privilege,
    load: () => import("./sign-in/Invitations.svelte"),
  },
  {
    path: "account/invitations/:id",
    title: { en: "Invitation", pl: "Zaproszenie", de: "Einladung" },
    privilege,
    load: () => import("./sign-in/Invitation.svelte"),
  },
  {
    path: "account/sign_in_providers/:id",
    title: { en: "Sign-in provider", pl: "Dostawca logowania", de: "Anmeldeanbieter" },
    privilege: "sign_in_providers",
    load: () => import("./sign-in/Provider.svelte"),
  },
  {
    path: "account/settings",
    icon: "settings",
    title: { en: "Settings", pl: "Ustawienia", de: "Einstellungen" },
    privilege: "settings",
    load: () => import("./settings/Settings.svelte"),
  },
  {
    path: "account/me",
    icon: "user",
    title: { en: "My account", pl: "Moje konto", de: "Mein Konto" },
    load: () => import("./me/Me.svelte"),
  },
];
