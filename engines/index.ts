/*
 * The door of the engines: everything that the server may know of them. Engines see one medium and one job, in a process of
 * their own; they know no database, no use case and no setting of the server.
 */
export {
  type AnalysisProgram,
  analysisProgram,
  type ChildCommand,
  type ChildStart,
  needsOfAnalysis,
} from './analysis-program.ts';
export {
  type AiCapabilities,
  ALWAYS_ACCEPTED,
  transcribes,
  type WorkKind,
  workKinds,
} from './capabilities.ts';
export { capabilitiesOf, takeInventory } from './inventory.ts';
export {
  type AnalysisJob,
  type AnalysisLimits,
  type AnalysisMessage,
  CATEGORIES,
  DEFAULT_LIMITS,
  MESSAGES,
} from './job.ts';
export { languageOf, unknownLanguage } from './languages.ts';
export { readModels } from './models/manifest.ts';
export { HARD_NUDITY_LABELS, SOFT_NUDITY_LABELS } from './nudity-labels.ts';
export { findProgram } from './programs.ts';
export type { EngineSettings } from './settings.ts';
