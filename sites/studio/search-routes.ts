import { answer, invalid, ok, route, Type, type RequestInput, type Route } from "platform";
import { foundIn, most, ranked, readMost, searchedLists, type Found, type SearchedList } from "./search.ts";

const Row = answer.object("FoundByName", {
  path: Type.String({ description: "of the list that it is in" }),
  id: Type.Union([Type.String(), Type.Integer()]),
  name: Type.String(),
  code: Type.Union([Type.String(), Type.Null()]),
});
const maxChars = 200;

/** One search over everything that has a name. `routes`: those of all plugins. */
export function searchRoutes(routes: () => readonly Route[]): Route[] {
  return [
    route(
      "GET",
      "/core/search",
      {
        summary: "Find anything by its name or code",
        description: `In every list that the token may read: at most ${most.ofList} of each and ${most.ofAll} in all, the best first. Records of databases are not searched.`,
        access: { signedIn: "each list asks for its own privilege" },
        query: { q: `the words, 1 to ${maxChars} characters` },
        asks: { q: "greeting" },
        answers: { 200: answer.list(Row) },
        responses: {
          200: [
            { path: "/core/prompts", id: "019a9c1e-0000-7000-8000-000000000001", name: "Greeting", code: "greeting" },
          ],
          422: { q: ["is required"] },
        },
      },
      async (input) => {
        const words = input.query.get("q")?.trim() ?? "";
        if (words === "") throw invalid({ q: ["is required"] });
        if (words.length > maxChars) throw invalid({ q: [`may have at most ${maxChars} characters`] });
        if (words.includes("\0")) throw invalid({ q: ["has a character that cannot be searched for"] });
        const found = await Promise.all(searchedLists(routes(), input.caller).map((list) => ask(list, input, words)));
        return ok(ranked(found.flat(), words));
      },
    ),
  ];
}

/** The list's own handler decides what this caller may see. */
async function ask(list: SearchedList, input: Omit<RequestInput, "params" | "body">, words: string): Promise<Found[]> {
  const asked = list.searches ? { q: words, limit: `${most.ofList}` } : { limit: `${readMost}` };
  const reply = await list.route.run({ ...input, params: {}, body: undefined, query: new URLSearchParams(asked) });
  return reply instanceof Response ? [] : foundIn(list, reply.body, words);
}
