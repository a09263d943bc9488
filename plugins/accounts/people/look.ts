/** How people tell the things of an account apart: by a picture and a colour. No HTTP, no SQL. */
import { column, field, Type, type TSchema } from "platform";

/** The colours of choices, and of things in the Studio. */
export const colors = ["gray", "red", "orange", "amber", "green", "teal", "sky", "indigo", "plum", "pink"] as const;

/** Only people look: what agents read leaves it out. */
const forEyes = <S extends TSchema>(schema: S): S => ({ ...schema, "x-look": true });

/** By what the Studio shows a thing. One of its pictures, by name: it shows an unknown one as it does none. */
export const look = {
  icon: column.text({
    label: ["Icon", "Ikona", "Symbol"],
    body: forEyes(
      field.nullable(Type.String({ pattern: "^[a-z][a-z0-9-]*$", maxLength: 40, description: "its name" })),
    ),
    orNull: true,
  }),
  color: column.text({
    label: ["Colour", "Kolor", "Farbe"],
    choices: {
      gray: ["Grey", "Szary", "Grau"],
      red: ["Red", "Czerwony", "Rot"],
      orange: ["Orange", "Pomarańczowy", "Orange"],
      amber: ["Amber", "Bursztynowy", "Bernstein"],
      green: ["Green", "Zielony", "Grün"],
      teal: ["Teal", "Morski", "Petrol"],
      sky: ["Sky blue", "Błękitny", "Himmelblau"],
      indigo: ["Indigo", "Indygo", "Indigo"],
      plum: ["Plum", "Śliwkowy", "Pflaume"],
      pink: ["Pink", "Różowy", "Rosa"],
    },
    body: forEyes(field.nullable(field.oneOf(colors))),
    orNull: true,
  }),
};
