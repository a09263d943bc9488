import { page, type StudioPage } from "studio/page";

const privilege = "flows";
const one = () => import("./Hook.svelte");

export const pages: StudioPage[] = [
  page("connect/hooks/new", ["New incoming webhook", "Nowy webhook przychodzący", "Neuer eingehender Webhook"], one, {
    privilege,
  }),
  page("connect/hooks/:id", ["Incoming webhook", "Webhook przychodzący", "Eingehender Webhook"], one, { privilege }),
];
