/** The page of SamplePlugin in the Studio: a browser imports this file as it is, so it imports nothing itself. */

const texts = {
  none: { en: "No items yet.", pl: "Nie ma jeszcze niczego.", de: "Noch keine Einträge." },
  title: { en: "Title", pl: "Tytuł", de: "Titel" },
  add: { en: "Add", pl: "Dodaj", de: "Hinzufügen" },
  added: { en: "Added", pl: "Dodano", de: "Hinzugefügt" },
};

export async function mount(element, { api, t, toast }) {
  const list = document.createElement("ul");
  const show = async () => {
    const { json } = await api("GET", "/sample-plugin/items?limit=100");
    const rows = json.map((item) => Object.assign(document.createElement("li"), { textContent: item.title }));
    list.replaceChildren(...rows);
    if (rows.length === 0) list.append(t(texts.none));
  };

  const input = Object.assign(document.createElement("input"), { required: true, maxLength: 255 });
  const label = Object.assign(document.createElement("label"), { textContent: t(texts.title) });
  const problem = Object.assign(document.createElement("p"), { className: "alert", hidden: true, role: "alert" });
  const button = Object.assign(document.createElement("button"), { className: "primary", textContent: t(texts.add) });
  label.append(input);
  const form = Object.assign(document.createElement("form"), { className: "stack" });
  form.append(label, problem, button);
  const add = async () => {
    try {
      await api("POST", "/sample-plugin/items", { body: { item: { title: input.value } } });
      input.value = "";
      problem.hidden = true;
      toast(t(texts.added));
      await show();
    } catch (error) {
      problem.textContent = error.message;
      problem.hidden = false;
    }
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void add();
  });
  element.append(form, list);
  await show();
  // Called when the page is left: end here what goes on by itself, e.g. timers.
  return () => element.replaceChildren();
}
