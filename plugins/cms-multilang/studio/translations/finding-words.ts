/** What each kind of finding means, in the Studio's languages: what is wrong, and why it matters or what to do. */
import type { FindingCode } from "../../care/finding.ts";

type Words = Readonly<Record<FindingCode, readonly [what: string, why: string]>>;

const en: Words = {
  no_domain: ["No domain", "Nobody can reach the site. Add a domain."],
  domains_without_locale: [
    "No domain has a language",
    "The site is multilingual, but no domain says in which language it is shown.",
  ],
  domain_duplicate: ["Two domains show the same", "Search engines see the same pages twice. Keep one of them."],
  language_unreachable: [
    "A language cannot be reached",
    "No domain has this language, so visitors see another page at its address. Add a domain with this language.",
  ],
  duplicate_language: ["Two pages of one language", "Only one page of a group is shown in each language."],
  alternates_not_mutual: [
    "A translation does not name its source",
    "Search engines ignore alternates that do not point at each other.",
  ],
  duplicate_canonical: ["Two pages have one canonical address", "Search engines show only one of them."],
  canonical_redirects: [
    "The canonical address leads elsewhere",
    "It is on the primary domain, which shows another page there.",
  ],
  path_needs_multilang: [
    "A page is never shown",
    "Another page has its path. Pages of several languages at one path need a multilingual site.",
  ],
  slave_on_masters_path: ["A page has its master’s path", "Give it a path of its own."],
  missing_translation: ["A page is missing in a language", "Visitors of that language do not see it."],
  missing_keys: ["A text is missing in a language", "The text of another language, or nothing, is shown."],
  stale_translation: ["A translation is stale", "Its source has changed since. Read it again."],
  suffixed_variable: [
    "A variable ends in a language",
    "It is the same for every visitor. The migration turns it into a field by language.",
  ],
  locale_as_html_lang: ["The attribute lang is made from locale", "It is empty or wrong on most pages. Use html_lang."],
  layout_without_html_lang: [
    "A layout does not say its language",
    "Screen readers and search engines rely on the attribute lang.",
  ],
  layout_without_seo_head: [
    "A layout does not name the other languages",
    "Without {{ seo_head }} in its head search engines do not connect them.",
  ],
  html_lang_of_shared_pages: [
    "The attribute lang is wrong on shared pages",
    "html_lang is the site’s language there. Use content_lang, the language that is shown.",
  ],
  page_without_layout: ["A page has no layout", "It is served without <html>, title and style."],
  template_error: ["A template is broken", "The page fails when it is shown."],
  unknown_paragraph: ["A paragraph does not exist", "Nothing is printed in its place."],
  unknown_category: ["A category does not exist", "The list of articles stays empty."],
  article_without_category: ["An article has no category", "Only lists of all articles show it."],
  article_without_page: [
    "An article has no page",
    "Lists name it, but no page shows it: its link is empty. Give the list of a page a {% show %}.",
  ],
  unknown_page: ["A linked page does not exist", "The link is empty. Correct the code before page_url."],
  article_hidden: ["An article is hidden", "A page or a category has its address. Give the article another path."],
  form_leads_nowhere: ["A form leads nowhere", "Send it to a public method: /core/db/<code>/create."],
};

const pl: Words = {
  no_domain: ["Brak domeny", "Nikt nie może wejść na witrynę. Dodaj domenę."],
  domains_without_locale: [
    "Żadna domena nie ma języka",
    "Witryna jest wielojęzyczna, ale żadna domena nie mówi, w jakim języku ma być pokazana.",
  ],
  domain_duplicate: [
    "Dwie domeny pokazują to samo",
    "Wyszukiwarki widzą te same strony dwa razy. Zostaw jedną z nich.",
  ],
  language_unreachable: [
    "Język jest nieosiągalny",
    "Żadna domena nie ma tego języka, więc pod jego adresem goście widzą inną stronę. Dodaj domenę z tym językiem.",
  ],
  duplicate_language: ["Dwie strony w jednym języku", "W każdym języku pokazywana jest tylko jedna strona grupy."],
  alternates_not_mutual: [
    "Tłumaczenie nie wskazuje źródła",
    "Wyszukiwarki pomijają odpowiedniki, które nie wskazują się nawzajem.",
  ],
  duplicate_canonical: ["Dwie strony mają jeden adres kanoniczny", "Wyszukiwarki pokazują tylko jedną z nich."],
  canonical_redirects: [
    "Adres kanoniczny prowadzi gdzie indziej",
    "Jest w domenie głównej, która pokazuje tam inną stronę.",
  ],
  path_needs_multilang: [
    "Strona nigdy nie jest pokazywana",
    "Inna strona ma jej ścieżkę. Strony w kilku językach pod jedną ścieżką wymagają witryny wielojęzycznej.",
  ],
  slave_on_masters_path: ["Strona ma ścieżkę swojej strony nadrzędnej", "Nadaj jej własną ścieżkę."],
  missing_translation: ["Brak strony w języku", "Goście mówiący tym językiem jej nie zobaczą."],
  missing_keys: ["Brak tekstu w języku", "Pokazywany jest tekst w innym języku albo nic."],
  stale_translation: ["Tłumaczenie jest nieaktualne", "Źródło się od tego czasu zmieniło. Przeczytaj je ponownie."],
  suffixed_variable: [
    "Zmienna kończy się językiem",
    "Jest taka sama dla każdego gościa. Migracja zamieni ją na pole według języków.",
  ],
  locale_as_html_lang: [
    "Atrybut lang pochodzi z locale",
    "Na większości stron jest pusty albo błędny. Użyj html_lang.",
  ],
  layout_without_html_lang: ["Szablon nie podaje języka", "Czytniki ekranu i wyszukiwarki polegają na atrybucie lang."],
  layout_without_seo_head: [
    "Szablon nie wymienia innych języków",
    "Bez {{ seo_head }} w nagłówku wyszukiwarki ich nie powiążą.",
  ],
  html_lang_of_shared_pages: [
    "Atrybut lang jest błędny na wspólnych stronach",
    "html_lang to tam język witryny. Użyj content_lang, czyli języka, który widać.",
  ],
  page_without_layout: ["Strona nie ma szablonu", "Jest wysyłana bez <html>, tytułu i stylu."],
  template_error: ["Szablon jest uszkodzony", "Strona nie działa, gdy ktoś ją otworzy."],
  unknown_paragraph: ["Akapit nie istnieje", "W jego miejscu nie pojawia się nic."],
  unknown_category: ["Kategoria nie istnieje", "Lista artykułów pozostaje pusta."],
  article_without_category: ["Artykuł nie ma kategorii", "Widać go tylko na listach wszystkich artykułów."],
  article_without_page: [
    "Artykuł nie ma strony",
    "Listy go wymieniają, ale żadna strona go nie pokazuje: odnośnik jest pusty. Dodaj {% show %} do listy na stronie.",
  ],
  unknown_page: ["Strona z odnośnika nie istnieje", "Odnośnik jest pusty. Popraw kod przed page_url."],
  article_hidden: ["Artykuł jest zasłonięty", "Jego adres ma strona lub kategoria. Nadaj artykułowi inną ścieżkę."],
  form_leads_nowhere: ["Formularz prowadzi donikąd", "Wyślij go do metody publicznej: /core/db/<kod>/create."],
};

const de: Words = {
  no_domain: ["Keine Domain", "Niemand kann die Website erreichen. Fügen Sie eine Domain hinzu."],
  domains_without_locale: [
    "Keine Domain hat eine Sprache",
    "Die Website ist mehrsprachig, aber keine Domain sagt, in welcher Sprache sie gezeigt wird.",
  ],
  domain_duplicate: [
    "Zwei Domains zeigen dasselbe",
    "Suchmaschinen sehen dieselben Seiten zweimal. Behalten Sie eine davon.",
  ],
  language_unreachable: [
    "Eine Sprache ist nicht erreichbar",
    "Keine Domain hat diese Sprache, an ihrer Adresse steht also eine andere Seite. Fügen Sie eine Domain dafür hinzu.",
  ],
  duplicate_language: ["Zwei Seiten einer Sprache", "In jeder Sprache wird nur eine Seite der Gruppe gezeigt."],
  alternates_not_mutual: [
    "Eine Übersetzung nennt ihre Quelle nicht",
    "Suchmaschinen übergehen Alternativen, die nicht aufeinander zeigen.",
  ],
  duplicate_canonical: ["Zwei Seiten haben eine kanonische Adresse", "Suchmaschinen zeigen nur eine davon."],
  canonical_redirects: [
    "Die kanonische Adresse führt woandershin",
    "Sie liegt auf der Hauptdomain, die dort eine andere Seite zeigt.",
  ],
  path_needs_multilang: [
    "Eine Seite wird nie gezeigt",
    "Eine andere Seite hat ihren Pfad. Seiten mehrerer Sprachen an einem Pfad brauchen eine mehrsprachige Website.",
  ],
  slave_on_masters_path: ["Eine Seite hat den Pfad ihrer Vorlage", "Geben Sie ihr einen eigenen Pfad."],
  missing_translation: ["Eine Seite fehlt in einer Sprache", "Besucher dieser Sprache sehen sie nicht."],
  missing_keys: ["Ein Text fehlt in einer Sprache", "Gezeigt wird der einer anderen Sprache oder nichts."],
  stale_translation: ["Eine Übersetzung ist veraltet", "Ihre Quelle hat sich seither geändert. Lesen Sie sie erneut."],
  suffixed_variable: [
    "Eine Variable endet auf eine Sprache",
    "Sie ist für alle Besucher gleich. Die Umstellung macht daraus ein Feld nach Sprachen.",
  ],
  locale_as_html_lang: [
    "Das Attribut lang kommt aus locale",
    "Es ist auf den meisten Seiten leer oder falsch. Nehmen Sie html_lang.",
  ],
  layout_without_html_lang: [
    "Ein Layout nennt seine Sprache nicht",
    "Vorleseprogramme und Suchmaschinen verlassen sich auf das Attribut lang.",
  ],
  layout_without_seo_head: [
    "Ein Layout nennt die anderen Sprachen nicht",
    "Ohne {{ seo_head }} im Kopf verbinden Suchmaschinen sie nicht.",
  ],
  html_lang_of_shared_pages: [
    "Das Attribut lang ist auf gemeinsamen Seiten falsch",
    "html_lang ist dort die Sprache der Website. Nehmen Sie content_lang, die gezeigte Sprache.",
  ],
  page_without_layout: ["Eine Seite hat kein Layout", "Sie wird ohne <html>, Titel und Stil ausgeliefert."],
  template_error: ["Eine Vorlage ist fehlerhaft", "Die Seite schlägt fehl, wenn sie gezeigt wird."],
  unknown_paragraph: ["Ein Absatz existiert nicht", "An seiner Stelle erscheint nichts."],
  unknown_category: ["Eine Kategorie existiert nicht", "Die Liste der Artikel bleibt leer."],
  article_without_category: ["Ein Artikel hat keine Kategorie", "Nur Listen aller Artikel zeigen ihn."],
  article_without_page: [
    "Ein Artikel hat keine Seite",
    "Listen nennen ihn, aber keine Seite zeigt ihn: sein Verweis ist leer. Gib der Liste einer Seite ein {% show %}.",
  ],
  unknown_page: ["Eine verlinkte Seite gibt es nicht", "Der Verweis ist leer. Berichtige den Code vor page_url."],
  article_hidden: [
    "Ein Artikel ist verdeckt",
    "Eine Seite oder Kategorie hat seine Adresse. Gib dem Artikel einen anderen Pfad.",
  ],
  form_leads_nowhere: [
    "Ein Formular führt nirgendwohin",
    "Schick es an eine öffentliche Methode: /core/db/<Code>/create.",
  ],
};

export const findingWords = { en, pl, de };
