/** Three files to try an import with, as people have them: German numbers and days, cells from a spreadsheet, mistakes. Pure. */

interface Example {
  readonly word: "exampleOrders" | "exampleCustomers" | "examplePrices";
  readonly about: "exampleOrdersText" | "exampleCustomersText" | "examplePricesText";
  readonly head: "headOrders" | "headCustomers" | "headPrices";
  readonly name: string;
  readonly rows: readonly (readonly string[])[];
  readonly separator: string;
}

const orders = [
  ["O-4711", "Café Specimen", "284,50", "28.11.2026"],
  ["O-4712", "Muster GmbH", "1.240,00", "29.11.2026"],
  ["O-4713", "Hotel Placeholder", "612,75", "31.11.2026"],
  ["O-4714", "Przykład Sp. z o.o.", "2.310,00", "02.12.2026"],
  ["O-4715", "Testkunde", "auf Anfrage", "02.12.2026"],
  ["O-4716", "Demo Deli", "203,40", "01.12.2026"],
];
/** As many rows as make it worth the while: the first ones again, with numbers of their own. */
const many = Array.from({ length: 36 }, (_, at): string[] => {
  const [, customer = "", total = "", due = ""] = orders[[0, 1, 3, 5][at % 4] ?? 0] ?? [];
  return [`O-${4717 + at}`, customer, total, due];
});

export const examples: readonly Example[] = [
  {
    word: "exampleOrders",
    about: "exampleOrdersText",
    name: "Orders.csv",
    separator: ";",
    head: "headOrders",
    rows: [...orders, ...many],
  },
  {
    word: "exampleCustomers",
    about: "exampleCustomersText",
    name: "Customers.tsv",
    separator: "\t",
    head: "headCustomers",
    rows: [
      ["Demo Deli", "Leipzig", "hi@demo-deli.example"],
      ["Acme Offices", "Berlin", "tea@acme.example"],
      ["Café Specimen", "Wien", "office@specimen.example"],
      ["Sample Bakery", "Łódź", "hallo@sample.example"],
    ],
  },
  {
    word: "examplePrices",
    about: "examplePricesText",
    name: "Prices.csv",
    separator: ";",
    head: "headPrices",
    rows: [
      ["Assam 500 g", "14,50 €", "32"],
      ["Sencha 250 g", "9,90 €", "18"],
      ["Darjeeling 100 g", "1.012,00 €", "4"],
    ],
  },
];

/** `head`: the names of its columns, in the person's language. */
export function fileOf({ name, rows, separator }: Example, head: string): File {
  return new File([[head.split(";"), ...rows].map((cells) => cells.join(separator)).join("\r\n")], name);
}
