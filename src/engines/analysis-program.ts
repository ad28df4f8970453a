import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { packageRoot } from '../lib/package-root.ts';
import { type AnalysisJob, type AnalysisMessage, type AnalysisOrder, readMessage } from './job.ts';
import type { EngineSettings } from './settings.ts';

/** How a server starts the child that analyses a medium, and how it talks to it. */
export interface AnalysisProgram {
  command: readonly [string, ...string[]];
  environment: Readonly<Record<string, string>>;
  orderOf(job: AnalysisJob): AnalysisOrder;
  /** @throws Error for anything that is no message of the child */
  readMessage(value: unknown): AnalysisMessage;
}

/** Models are outside of this; the objects of an analysis are few. */
const HEAP_MEGABYTES = 512;

export function analysisProgram(settings: EngineSettings): AnalysisProgram {
  return {
    command: [process.execPath, `--max-old-space-size=${HEAP_MEGABYTES}`, ...entry()],
    environment: { PATH: settings.searchPath, LC_ALL: 'C.UTF-8' },
    orderOf: (job) => ({ job, settings }),
    readMessage,
  };
}

/** The bundle, or the source where this itself runs from source. */
function entry(): string[] {
  if (!import.meta.url.endsWith('.ts')) return [path.join(packageRoot, 'dist/src/engines/child/main.js')];
  const tsx = createRequire(import.meta.url).resolve('tsx');
  return ['--import', pathToFileURL(tsx).href, path.join(packageRoot, 'src/engines/child/main.ts')];
}
