// Made by scripts/demo-files.ts; tests/demo-files.test.ts says when it is stale.
import file0 from "./site/articles/a-stamp-from-1890.liquid" with { type: "text" };
import file1 from "./site/articles/dlaczego-1250.liquid" with { type: "text" };
import file2 from "./site/articles/ein-stempel-von-1890.liquid" with { type: "text" };
import file3 from "./site/articles/otwieramy-piec.liquid" with { type: "text" };
import file4 from "./site/articles/stempel-z-1890.liquid" with { type: "text" };
import file5 from "./site/articles/warum-1250.liquid" with { type: "text" };
import file6 from "./site/articles/we-open-the-kiln.liquid" with { type: "text" };
import file7 from "./site/articles/why-1250.liquid" with { type: "text" };
import file8 from "./site/articles/wir-oeffnen-den-ofen.liquid" with { type: "text" };
import file9 from "./site/categories/firing.yaml" with { type: "text" };
import file10 from "./site/categories/journal.yaml" with { type: "text" };
import file11 from "./site/categories/pattern.yaml" with { type: "text" };
import file12 from "./site/domains/en.kobalt.localhost.yaml" with { type: "text" };
import file13 from "./site/domains/kobalt.localhost.yaml" with { type: "text" };
import file14 from "./site/layouts/main.liquid" with { type: "text" };
import file15 from "./site/pages/collection-de.liquid" with { type: "text" };
import file16 from "./site/pages/collection-en.liquid" with { type: "text" };
import file17 from "./site/pages/collection.liquid" with { type: "text" };
import file18 from "./site/pages/contact-de.liquid" with { type: "text" };
import file19 from "./site/pages/contact-en.liquid" with { type: "text" };
import file20 from "./site/pages/contact.liquid" with { type: "text" };
import file21 from "./site/pages/home.liquid" with { type: "text" };
import file22 from "./site/pages/journal-de.liquid" with { type: "text" };
import file23 from "./site/pages/journal-en.liquid" with { type: "text" };
import file24 from "./site/pages/journal.liquid" with { type: "text" };
import file25 from "./site/pages/not-found.liquid" with { type: "text" };
import file26 from "./site/pages/workshop-de.liquid" with { type: "text" };
import file27 from "./site/pages/workshop-en.liquid" with { type: "text" };
import file28 from "./site/pages/workshop.liquid" with { type: "text" };
import file29 from "./site/paragraphs/art-clay.liquid" with { type: "text" };
import file30 from "./site/paragraphs/art-daily.liquid" with { type: "text" };
import file31 from "./site/paragraphs/art-kiln.liquid" with { type: "text" };
import file32 from "./site/paragraphs/art-stamp.liquid" with { type: "text" };
import file33 from "./site/paragraphs/art-still-life.liquid" with { type: "text" };
import file34 from "./site/paragraphs/art.liquid" with { type: "text" };
import file35 from "./site/paragraphs/hours.liquid" with { type: "text" };
import file36 from "./site/paragraphs/piece-bowl.liquid" with { type: "text" };
import file37 from "./site/paragraphs/piece-jug.liquid" with { type: "text" };
import file38 from "./site/paragraphs/piece-mug.liquid" with { type: "text" };
import file39 from "./site/paragraphs/piece-plate.liquid" with { type: "text" };
import file40 from "./site/paragraphs/piece-teapot.liquid" with { type: "text" };
import file41 from "./site/paragraphs/piece-vase.liquid" with { type: "text" };
import file42 from "./site/paragraphs/style.liquid" with { type: "text" };
import file43 from "./site/site.yaml" with { type: "text" };

/** Text by path: the folder of `corestead site push`. */
export const siteFiles: ReadonlyMap<string, string> = new Map<string, string>([
  ["articles/a-stamp-from-1890.liquid", file0],
  ["articles/dlaczego-1250.liquid", file1],
  ["articles/ein-stempel-von-1890.liquid", file2],
  ["articles/otwieramy-piec.liquid", file3],
  ["articles/stempel-z-1890.liquid", file4],
  ["articles/warum-1250.liquid", file5],
  ["articles/we-open-the-kiln.liquid", file6],
  ["articles/why-1250.liquid", file7],
  ["articles/wir-oeffnen-den-ofen.liquid", file8],
  ["categories/firing.yaml", file9],
  ["categories/journal.yaml", file10],
  ["categories/pattern.yaml", file11],
  ["domains/en.kobalt.localhost.yaml", file12],
  ["domains/kobalt.localhost.yaml", file13],
  ["layouts/main.liquid", file14],
  ["pages/collection-de.liquid", file15],
  ["pages/collection-en.liquid", file16],
  ["pages/collection.liquid", file17],
  ["pages/contact-de.liquid", file18],
  ["pages/contact-en.liquid", file19],
  ["pages/contact.liquid", file20],
  ["pages/home.liquid", file21],
  ["pages/journal-de.liquid", file22],
  ["pages/journal-en.liquid", file23],
  ["pages/journal.liquid", file24],
  ["pages/not-found.liquid", file25],
  ["pages/workshop-de.liquid", file26],
  ["pages/workshop-en.liquid", file27],
  ["pages/workshop.liquid", file28],
  ["paragraphs/art-clay.liquid", file29],
  ["paragraphs/art-daily.liquid", file30],
  ["paragraphs/art-kiln.liquid", file31],
  ["paragraphs/art-stamp.liquid", file32],
  ["paragraphs/art-still-life.liquid", file33],
  ["paragraphs/art.liquid", file34],
  ["paragraphs/hours.liquid", file35],
  ["paragraphs/piece-bowl.liquid", file36],
  ["paragraphs/piece-jug.liquid", file37],
  ["paragraphs/piece-mug.liquid", file38],
  ["paragraphs/piece-plate.liquid", file39],
  ["paragraphs/piece-teapot.liquid", file40],
  ["paragraphs/piece-vase.liquid", file41],
  ["paragraphs/style.liquid", file42],
  ["site.yaml", file43],
]);
