/** Context of this plugin's functions. */
import type { BaseContext } from "platform";
import type { Accounts } from "../accounts/api.ts";
import type { Connectors } from "../connectors/api.ts";
import type { JsonDatabases } from "../jsondb/api.ts";
import type { FlowLookup } from "./manage/lookup.ts";
import type { NewProcess } from "./processes/store.ts";
import type { ProcessWaits } from "./processes/watch.ts";
import type { StepTypes } from "./program/step-types.ts";
import type { TriggerSource } from "./triggers/source.ts";
import type { Templates } from "./program/template.ts";

export interface FlowContext extends BaseContext {
  readonly accounts: Accounts;
  readonly connectors: Connectors;
  readonly databases: JsonDatabases;
  readonly flowLookup: FlowLookup;
  readonly templates: Templates;
  readonly stepTypes: StepTypes;
  readonly triggerSources: readonly TriggerSource[];
  readonly waiting: ProcessWaits;
  /** Concurrent processes that only compute are written by one statement. */
  readonly insertTogether: (process: NewProcess) => Promise<unknown>;
}
