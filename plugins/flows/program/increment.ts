/** The `increment` of an update: field to what is added to it. Read when a program is saved and when it runs. Pure. */
import { exactly, isNumber, isObject, type ExactNumber } from "platform";

const most = 100;
/** As JSON writes it. Bounded, because a few characters make a number of any length. */
const numberForm = /^-?(?:0|[1-9]\d{0,400})(?:\.\d{1,400})?(?:e[+-]?\d{1,3})?$/i;

/** `isOpen`: an expression while a program is saved, of whose value nothing is known. Mistakes begin with their place. */
export function readIncrement(
  given: unknown,
  data: unknown,
  isOpen: (value: unknown) => boolean = () => false,
): { readonly amounts: Readonly<Record<string, number | ExactNumber>>; readonly mistakes: readonly string[] } {
  if (isOpen(given)) return { amounts: {}, mistakes: [] };
  if (!isObject(given)) return { amounts: {}, mistakes: [" must be an object of field to number"] };
  const fields = Object.entries(given);
  const mistakes: string[] = [];
  const amounts: [string, number | ExactNumber][] = [];
  if (fields.length === 0 || fields.length > most) mistakes.push(` must have 1 to ${most} fields`);
  for (const [field, value] of fields.slice(0, most)) {
    const place = `.${field.slice(0, 60)}`;
    if (isObject(data) && Object.hasOwn(data, field)) mistakes.push(`${place} is set by \`data\` too`);
    const amount = typeof value === "string" && numberForm.test(value) ? exactly(value) : value;
    if (isNumber(amount)) amounts.push([field, amount]);
    else if (!isOpen(value)) mistakes.push(`${place} must be a number`);
  }
  return { amounts: Object.fromEntries(amounts), mistakes };
}
