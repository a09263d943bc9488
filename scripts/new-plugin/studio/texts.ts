/** What the page says, by language. */
export const texts = {
  items: { en: "Items", pl: "Elementy", de: "Einträge" },
  none: { en: "No items yet.", pl: "Nie ma jeszcze niczego.", de: "Noch keine Einträge." },
  title: { en: "Title", pl: "Tytuł", de: "Titel" },
  text: { en: "Text", pl: "Treść", de: "Text" },
  words: { en: "Words", pl: "Słowa", de: "Wörter" },
  add: { en: "Add", pl: "Dodaj", de: "Hinzufügen" },
  added: { en: "{title} is added.", pl: "Dodano: {title}.", de: "{title} ist hinzugefügt." },
};
