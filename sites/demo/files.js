// Made by scripts/demo-files.ts; tests/demo.test.ts says when it is stale.
/* oxlint-disable import/default -- the apps' sources are texts here */
import site0 from "./site/articles/a-stamp-from-1890.liquid" with { type: "text" };
import site1 from "./site/articles/dlaczego-1250.liquid" with { type: "text" };
import site2 from "./site/articles/ein-stempel-von-1890.liquid" with { type: "text" };
import site3 from "./site/articles/otwieramy-piec.liquid" with { type: "text" };
import site4 from "./site/articles/stempel-z-1890.liquid" with { type: "text" };
import site5 from "./site/articles/warum-1250.liquid" with { type: "text" };
import site6 from "./site/articles/we-open-the-kiln.liquid" with { type: "text" };
import site7 from "./site/articles/why-1250.liquid" with { type: "text" };
import site8 from "./site/articles/wir-oeffnen-den-ofen.liquid" with { type: "text" };
import site9 from "./site/categories/firing.yaml" with { type: "text" };
import site10 from "./site/categories/journal.yaml" with { type: "text" };
import site11 from "./site/categories/pattern.yaml" with { type: "text" };
import site12 from "./site/domains/en.kobalt.localhost.yaml" with { type: "text" };
import site13 from "./site/domains/kobalt.localhost.yaml" with { type: "text" };
import site14 from "./site/layouts/main.liquid" with { type: "text" };
import site15 from "./site/pages/collection-de.liquid" with { type: "text" };
import site16 from "./site/pages/collection-en.liquid" with { type: "text" };
import site17 from "./site/pages/collection.liquid" with { type: "text" };
import site18 from "./site/pages/contact-de.liquid" with { type: "text" };
import site19 from "./site/pages/contact-en.liquid" with { type: "text" };
import site20 from "./site/pages/contact.liquid" with { type: "text" };
import site21 from "./site/pages/home.liquid" with { type: "text" };
import site22 from "./site/pages/journal-de.liquid" with { type: "text" };
import site23 from "./site/pages/journal-en.liquid" with { type: "text" };
import site24 from "./site/pages/journal.liquid" with { type: "text" };
import site25 from "./site/pages/not-found.liquid" with { type: "text" };
import site26 from "./site/pages/workshop-de.liquid" with { type: "text" };
import site27 from "./site/pages/workshop-en.liquid" with { type: "text" };
import site28 from "./site/pages/workshop.liquid" with { type: "text" };
import site29 from "./site/paragraphs/art-clay.liquid" with { type: "text" };
import site30 from "./site/paragraphs/art-daily.liquid" with { type: "text" };
import site31 from "./site/paragraphs/art-stamp.liquid" with { type: "text" };
import site32 from "./site/paragraphs/art.liquid" with { type: "text" };
import site33 from "./site/paragraphs/hours.liquid" with { type: "text" };
import site34 from "./site/paragraphs/piece-bowl.liquid" with { type: "text" };
import site35 from "./site/paragraphs/piece-jug.liquid" with { type: "text" };
import site36 from "./site/paragraphs/piece-mug.liquid" with { type: "text" };
import site37 from "./site/paragraphs/piece-plate.liquid" with { type: "text" };
import site38 from "./site/paragraphs/piece-teapot.liquid" with { type: "text" };
import site39 from "./site/paragraphs/piece-vase.liquid" with { type: "text" };
import site40 from "./site/paragraphs/style.liquid" with { type: "text" };
import site41 from "./site/site.yaml" with { type: "text" };
import apps0 from "./apps/expenses/app.json" with { type: "text" };
import apps1 from "./apps/expenses/app.tsx" with { type: "text" };
import apps2 from "./apps/guestbook/app.html" with { type: "text" };
import apps3 from "./apps/guestbook/app.json" with { type: "text" };
import apps4 from "./apps/kanban/app.json" with { type: "text" };
import apps5 from "./apps/kanban/app.svelte" with { type: "text" };
import apps6 from "./apps/poll/app.json" with { type: "text" };
import apps7 from "./apps/poll/app.vue" with { type: "text" };
import apps8 from "./apps/stardust/app.js" with { type: "text" };
import apps9 from "./apps/stardust/app.json" with { type: "text" };
import apps10 from "./apps/weather/app.js" with { type: "text" };
import apps11 from "./apps/weather/app.json" with { type: "text" };

/** Text by path: the folder of `corestead site push`. */
export const siteFiles = new Map([
  ["articles/a-stamp-from-1890.liquid", site0],
  ["articles/dlaczego-1250.liquid", site1],
  ["articles/ein-stempel-von-1890.liquid", site2],
  ["articles/otwieramy-piec.liquid", site3],
  ["articles/stempel-z-1890.liquid", site4],
  ["articles/warum-1250.liquid", site5],
  ["articles/we-open-the-kiln.liquid", site6],
  ["articles/why-1250.liquid", site7],
  ["articles/wir-oeffnen-den-ofen.liquid", site8],
  ["categories/firing.yaml", site9],
  ["categories/journal.yaml", site10],
  ["categories/pattern.yaml", site11],
  ["domains/en.kobalt.localhost.yaml", site12],
  ["domains/kobalt.localhost.yaml", site13],
  ["layouts/main.liquid", site14],
  ["pages/collection-de.liquid", site15],
  ["pages/collection-en.liquid", site16],
  ["pages/collection.liquid", site17],
  ["pages/contact-de.liquid", site18],
  ["pages/contact-en.liquid", site19],
  ["pages/contact.liquid", site20],
  ["pages/home.liquid", site21],
  ["pages/journal-de.liquid", site22],
  ["pages/journal-en.liquid", site23],
  ["pages/journal.liquid", site24],
  ["pages/not-found.liquid", site25],
  ["pages/workshop-de.liquid", site26],
  ["pages/workshop-en.liquid", site27],
  ["pages/workshop.liquid", site28],
  ["paragraphs/art-clay.liquid", site29],
  ["paragraphs/art-daily.liquid", site30],
  ["paragraphs/art-stamp.liquid", site31],
  ["paragraphs/art.liquid", site32],
  ["paragraphs/hours.liquid", site33],
  ["paragraphs/piece-bowl.liquid", site34],
  ["paragraphs/piece-jug.liquid", site35],
  ["paragraphs/piece-mug.liquid", site36],
  ["paragraphs/piece-plate.liquid", site37],
  ["paragraphs/piece-teapot.liquid", site38],
  ["paragraphs/piece-vase.liquid", site39],
  ["paragraphs/style.liquid", site40],
  ["site.yaml", site41],
]);

/** Text by path: each app's app.json and its source. */
export const appFiles = new Map([
  ["expenses/app.json", apps0],
  ["expenses/app.tsx", apps1],
  ["guestbook/app.html", apps2],
  ["guestbook/app.json", apps3],
  ["kanban/app.json", apps4],
  ["kanban/app.svelte", apps5],
  ["poll/app.json", apps6],
  ["poll/app.vue", apps7],
  ["stardust/app.js", apps8],
  ["stardust/app.json", apps9],
  ["weather/app.js", apps10],
  ["weather/app.json", apps11],
]);
