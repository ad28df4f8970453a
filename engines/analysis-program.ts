import fs from 'node:fs';
import path from 'node:path';
import { ownProgram, packageRoot } from '../src/lib/own-program.ts';
import { type AnalysisJob, type AnalysisMessage, type AnalysisOrder, readMessage } from './job.ts';
import { type Models, readModels } from './models/manifest.ts';
import { findProgram } from './programs.ts';
import type { EngineSettings } from './settings.ts';

export type ChildCommand = readonly [string, ...string[]];

/** How the child of one analysis is started. */
export interface ChildStart {
  command: ChildCommand;
  /** Set if it isn't the server's user. */
  user?: { uid: number; gid: number };
  /** The path of the task's folder as the child sees it. */
  folder: string;
  /** Whether the child writes to the disk, where only we limit how much. */
  writesToDisk: boolean;
}

/** How a server starts the child that analyses a medium, and how it talks to the child. */
export interface AnalysisProgram {
  /**
   * @param folder the task's own folder, in which the child runs; everything in it that the child may read
   * exists by now
   */
  startIn(folder: string): ChildStart;
  environment: Readonly<Record<string, string>>;
  orderOf(job: AnalysisJob): AnalysisOrder;
  /** @throws Error for anything that is not a message of the child */
  readMessage(value: unknown): AnalysisMessage;
}

const RUNS_FROM_SOURCE = import.meta.url.endsWith('.ts');
/** Models are not on the heap, and an analysis has few objects. */
const HEAP_MEGABYTES = 512;

/** @param start isolates the child from the server; by default nothing does */
export function analysisProgram(
  settings: EngineSettings,
  start: (command: ChildCommand, folder: string) => ChildStart = (command, folder) => ({
    command,
    folder,
    writesToDisk: true,
  }),
): AnalysisProgram {
  return {
    startIn: (folder) => start(entry(), folder),
    environment: { PATH: settings.searchPath, LC_ALL: 'C.UTF-8' },
    orderOf: (job) => ({ job, settings }),
    readMessage,
  };
}

/**
 * Returns the child itself, the programs that it starts, and the files and folders that it reads besides its medium.
 */
export function needsOfAnalysis(settings: EngineSettings): {
  entry: ChildCommand;
  programs: string[];
  reads: string[];
} {
  const { searchPath, modelDir, pocketsphinxModel } = settings;
  const program = RUNS_FROM_SOURCE ? ['node_modules', 'src', 'engines'] : ['dist'];
  const own = ['package.json', ...program, 'engines/node_modules'];
  const programs = [settings.ffmpeg, settings.ffprobe, settings.pocketsphinx];
  return {
    entry: entry(),
    programs: programs.flatMap((name) => findProgram(name, searchPath) ?? []),
    reads: [
      ...own.map((name) => path.join(packageRoot, name)).filter(fs.existsSync),
      ...(fs.existsSync(pocketsphinxModel) ? [pocketsphinxModel] : []),
      ...(modelDir === null ? [] : [modelDir, ...linksIn(modelDir), ...filesOf(readModels(modelDir))]),
    ],
  };
}

/** Model files are often links into a store elsewhere. */
function linksIn(folder: string): string[] {
  const entries = fs.readdirSync(folder, { recursive: true, withFileTypes: true });
  const links = entries.filter((entry) => entry.isSymbolicLink());
  return links.map(({ parentPath, name }) => path.join(parentPath, name)).filter(fs.existsSync);
}

function filesOf({ speech, detectors }: Models): string[] {
  return [...speech.flatMap(({ files }) => Object.values(files)), ...detectors.map(({ file }) => file)];
}

function entry(): ChildCommand {
  return ownProgram('engines/child/main.ts', `--max-old-space-size=${HEAP_MEGABYTES}`);
}
