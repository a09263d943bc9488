/** What the pages of plugins import as "studio". */
export type { StudioPage } from "./page.ts";
export type { CustomField, ItemProps, ListProps, ListUpdates, PageProps } from "./props.ts";

export { default as Code } from "./code/Code.svelte";
export { default as Diff } from "./show/Diff.svelte";
export { default as Field } from "./forms/Field.svelte";
export { faultsOf, type CodeLanguage, type CodeWord, type Fault } from "./code/faults.ts";
export { asking } from "../ai/asking.svelte.ts";
export { Conversation, type ChatMessage, type ChatRequest } from "../ai/chat.svelte.ts";
export { loadModels, type Model } from "../ai/load.ts";
export { addressOf, base } from "../address.ts";
export { ApiError, askEarly, get, messageOf, outlast, personHeader, request, type Answer } from "../server/request.ts";
export { Attempt, Fetched, titled, whileShown } from "../state/page.svelte.ts";
export { connection } from "../state/connection.svelte.ts";
export { followChanges, followEvents, repeatedly } from "../server/events.ts";
export { chosenInAddress, keepChosen } from "../chosen.ts";
export { curlOf, type Call } from "../resources/curl.ts";
export { KeptDraft } from "../state/draft.svelte.ts";
export { Editor } from "../state/editor.svelte.ts";
export type { FormField, Input } from "../resources/forms.ts";
export { floating, placed, stand } from "../keyboard/placed.ts";
export { arrows, focusPage, indexAfter, overlay } from "../keyboard/focus.ts";
export { frame } from "../state/frame.svelte.ts";
export { menu } from "../state/menu.svelte.ts";
export { showAtHome } from "../state/dashboard.svelte.ts";
export { looks } from "../state/looks.svelte.ts";
export { nextCell, type Cell as GridCell } from "../keyboard/keys.ts";
export { Cells } from "../state/cells.svelte.ts";

export { lookupChoices, type Choice } from "../resources/lookup.ts";
export { changes, merged, same, type Conflict } from "../forms/merge.ts";
export { words } from "../resources/names.ts";
export { People } from "../state/people.svelte.ts";
export { changePreference, preference } from "../server/preferences.ts";
export { questions } from "../state/questions.svelte.ts";
export { ownedBy } from "../resources/own.ts";
export { default as Narrowed } from "./forms/Narrowed.svelte";
export type { Resource } from "../resources/resources.ts";
export { router } from "../state/router.svelte.ts";
export { session } from "../state/session.svelte.ts";
export { shortcuts } from "../state/shortcuts.svelte.ts";
export { catalogue, filledIn, text, type Language } from "../state/text.svelte.ts";
export { mayLose } from "../state/uses.ts";
export { toasts } from "../state/toasts.svelte.ts";
export { isLongNumber, numberOf, parseJson } from "../server/exact.ts";
export { cut, isMap, mapsIn, ownOf, textOf, visible } from "../resources/values.ts";
export { default as AsApi } from "./show/AsApi.svelte";
export { default as ApiCall } from "./show/ApiCall.svelte";
export { default as Cell } from "./show/Cell.svelte";
export { default as ConfirmName } from "./forms/ConfirmName.svelte";
export { default as ScheduleInput } from "./start/ScheduleInput.svelte";
export { default as StartFields } from "./start/StartFields.svelte";
export { conditionsOf, scheduleSentence, sentenceOf, titleOfStart } from "./start/sentence.ts";
export {
  changedOf,
  cronStart,
  hookStart,
  startOf,
  triggerOf,
  filterOf,
  furtherOf,
  isWhole,
  newStart,
  ofRecords,
  secretMaker,
  webhookStart,
  type Start,
} from "./start/start.ts";
export { Tables } from "./start/tables.svelte.ts";
export { plainField, wordsIn, type FieldKind, type Table, type TableField } from "./start/tables.ts";
export { default as Conflicts } from "./forms/Conflicts.svelte";
export { default as Columns } from "./list/Columns.svelte";
export { default as Copy } from "./show/Copy.svelte";
export { default as DraftOffer } from "./forms/DraftOffer.svelte";
export { default as Fields } from "./forms/Fields.svelte";
export { default as FormPage } from "./forms/FormPage.svelte";
export { default as Starters } from "./forms/Starters.svelte";
export { default as Versions } from "./show/Versions.svelte";
export { VersionLog, type Version } from "../state/versions.svelte.ts";
export { default as Dialog } from "./Dialog.svelte";
export { default as Icon } from "./Icon.svelte";
export { default as Meanwhile } from "./forms/Meanwhile.svelte";
export { colorOfThing, iconOfThing } from "../frame/things.ts";
export { default as TableLevels } from "./forms/TableLevels.svelte";
export { default as Labelled } from "./forms/Labelled.svelte";
export { default as Tabs } from "./Tabs.svelte";
export { languages } from "../state/text.svelte.ts";
export { theme, themes, type Theme } from "../frame/theme.ts";
export { default as Item } from "../pages/Item.svelte";
export { default as List } from "../pages/List.svelte";
export { default as OnOff } from "./start/OnOff.svelte";
export { default as Chips } from "./forms/Chips.svelte";
export { default as Privileges } from "./forms/Privileges.svelte";
export { docOf, nameOfRight } from "./forms/privileges.ts";
export { default as Embeds } from "./Embeds.svelte";
export { default as EditForm } from "./forms/EditForm.svelte";
export { default as Facts } from "./show/Facts.svelte";
export { default as FormInput } from "./forms/FormInput.svelte";
export { default as Explained } from "./Explained.svelte";
export { default as Section } from "./Section.svelte";
export { default as Value } from "./show/Value.svelte";
export { initialsOf, nameOf, titleOf } from "../title.ts";
export { localOf, timeOf } from "../zoned.ts";
