import { generatedFile, type Account } from "platform";
import type { Media } from "../../plugins/media/api.ts";

/** By locale. */
interface Texts {
  readonly pl: string;
  readonly en: string;
  readonly de: string;
}

/** Where the site's templates look for them. */
const folder = "kobalt";

/** Puts the site's pictures into the media library. Other widths are made when a browser asks for them. */
export async function putPictures({ media }: { readonly media: Media }, account: Account): Promise<readonly string[]> {
  const by = { accountId: account.id, userId: null };
  const done = await Promise.all(
    pictures.map(async ([code, titles, alts]) => {
      const name = `${code}.avif`;
      const bytes = await generatedFile(`demo/${name}`, () => new URL(`pictures/${name}`, import.meta.url));
      return (await media.put(by, { folder, name, bytes, is_public: true, titles: { ...titles }, alts: { ...alts } }))
        .done;
    }),
  );
  return [`the pictures: ${counted(done)}`];
}

export type Done = "made" | "changed" | "unchanged";

/** "3 made, 2 unchanged" */
export function counted(done: readonly Done[]): string {
  const counts = (["made", "changed", "unchanged"] as const).flatMap((word) => {
    const count = done.filter((one) => one === word).length;
    return count === 0 ? [] : [`${count} ${word}`];
  });
  return counts.join(", ");
}

const pictures: readonly (readonly [code: string, titles: Texts, alts: Texts])[] = [
  [
    "still-life",
    { pl: "Martwa natura", en: "Still life", de: "Stillleben" },
    {
      pl: "Wazon z gałązkami jarzębiny, misa śliwek i moreli, dzbanek i kubek na stole w słońcu, wszystko w kobaltowe pawie oczka",
      en: "A vase with rowan twigs, a bowl of plums and apricots, a jug and a mug on a table in the sun, all with cobalt peacock eyes",
      de: "Vase mit Vogelbeerzweigen, Schale mit Pflaumen und Aprikosen, Krug und Becher auf einem Tisch in der Sonne, alle mit kobaltblauen Pfauenaugen",
    },
  ],
  [
    "brickworks",
    { pl: "Cegielnia o świcie", en: "The brickworks at dawn", de: "Die Ziegelei am Morgen" },
    {
      pl: "Dawna cegielnia z wysokim kominem nad rzeką, w porannej mgle, w oknach pali się światło",
      en: "The former brickworks with its tall chimney by the river in the morning mist, lights on in the windows",
      de: "Die alte Ziegelei mit hohem Schornstein am Fluss im Morgennebel, in den Fenstern brennt Licht",
    },
  ],
  [
    "kiln",
    { pl: "Otwarty piec", en: "The open kiln", de: "Der offene Ofen" },
    {
      pl: "Ceglany piec z łukowym otworem, w jego żarze stoją na półkach misy, kubki, wazony i imbryk, obok skrzynka i dzbanek",
      en: "The brick kiln with its arched mouth: bowls, mugs, vases and a teapot on shelves in its glow, a jug and a crate in front of it",
      de: "Der gemauerte Ofen mit Bogen: Schalen, Becher, Vasen und eine Kanne auf Platten in der Glut, davor ein Krug und eine Kiste",
    },
  ],
  [
    "cones",
    { pl: "Stożki w piecu", en: "Cones in the kiln", de: "Kegel im Ofen" },
    {
      pl: "Trzy gliniane stożki przed rozżarzoną ścianą: jeden stoi prosto, drugi się skłania, trzeci dotyka czubkiem podstawy",
      en: "Three clay cones before a glowing wall: one stands upright, one bows, one touches its base with its tip",
      de: "Drei Tonkegel vor einer glühenden Wand: einer steht, einer neigt sich, einer berührt mit der Spitze den Sockel",
    },
  ],
  [
    "stamps",
    { pl: "Stemple z korka", en: "Cork stamps", de: "Stempel aus Kork" },
    {
      pl: "Korkowe stemple w drewnianym pudełku, talerz z kobaltem i arkusz papieru z rzędami odbitych pawich oczek",
      en: "Cork stamps in a wooden box, a plate of cobalt, and a sheet of paper with rows of printed peacock eyes",
      de: "Korkstempel in einer Holzkiste, ein Teller mit Kobalt und ein Bogen Papier mit Reihen gedruckter Pfauenaugen",
    },
  ],
  [
    "mug",
    { pl: "Kubek", en: "Mug", de: "Becher" },
    {
      pl: "Biały kubek z kobaltowym uchem, rzędem kropek i rzędem pawich oczek",
      en: "A white mug with a cobalt handle, a row of dots and a row of peacock eyes",
      de: "Weißer Becher mit kobaltblauem Henkel, einer Reihe Punkte und einer Reihe Pfauenaugen",
    },
  ],
  [
    "bowl",
    { pl: "Misa", en: "Bowl", de: "Schale" },
    {
      pl: "Szeroka misa z pawimi oczkami pod kobaltowym brzegiem",
      en: "A wide bowl with peacock eyes below a cobalt rim",
      de: "Weite Schale mit Pfauenaugen unter einem kobaltblauen Rand",
    },
  ],
  [
    "jug",
    { pl: "Dzban", en: "Jug", de: "Krug" },
    {
      pl: "Dzban z dziobkiem, kobaltowym uchem i dwoma rzędami pawich oczek",
      en: "A jug with a lip, a cobalt handle and two rows of peacock eyes",
      de: "Krug mit Schnaupe, kobaltblauem Henkel und zwei Reihen Pfauenaugen",
    },
  ],
  [
    "plate",
    { pl: "Talerz", en: "Plate", de: "Teller" },
    {
      pl: "Talerz z dużym pawim oczkiem pośrodku i wieńcem małych na brzegu",
      en: "A plate with one large peacock eye in the middle and a wreath of small ones on its rim",
      de: "Teller mit einem großen Pfauenauge in der Mitte und einem Kranz kleiner am Rand",
    },
  ],
  [
    "teapot",
    { pl: "Imbryk", en: "Teapot", de: "Kanne" },
    {
      pl: "Imbryk z kobaltową pokrywką, dziobkiem i wysokim pałąkiem",
      en: "A teapot with a cobalt lid and spout and a tall bow handle",
      de: "Kanne mit kobaltblauem Deckel, Ausguss und hohem Bügelhenkel",
    },
  ],
  [
    "vase",
    { pl: "Wazon", en: "Vase", de: "Vase" },
    {
      pl: "Smukły wazon z łuskami na ramieniu i dwoma rzędami pawich oczek",
      en: "A slender vase with scales on its shoulder and two rows of peacock eyes",
      de: "Schlanke Vase mit Schuppen auf der Schulter und zwei Reihen Pfauenaugen",
    },
  ],
];
