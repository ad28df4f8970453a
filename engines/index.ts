/*
 * The door of the engines: everything that the server may know of them. Engines see one medium and one job, in a process of
 * their own; they know no database, no use case and no setting of the server.
 */
export {
  type AnalysisProgram,
  analysisProgram,
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
export { analyse } from './isolation/analysis.ts';
export { ANALYSIS_USERS } from './isolation/analysis-user.ts';
export {
  type Containment,
  type ContainmentFinding,
  confiners,
  findContainment,
} from './isolation/containment.ts';
export { type ResourceLimits, resourceLimits } from './isolation/resource-limits.ts';
export { findSandbox, type SandboxFinding } from './isolation/sandbox.ts';
export {
  type AnalysisJob,
  CATEGORIES,
} from './job.ts';
export { LANGUAGES, languageOf, unknownLanguage } from './languages.ts';
export { readModels } from './models/manifest.ts';
export { HARD_NUDITY_LABELS, SOFT_NUDITY_LABELS } from './nudity-labels.ts';
export type { EngineSettings } from './settings.ts';
