import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { packageRoot } from '../lib/package-root.ts';
import { type AnalysisJob, type AnalysisMessage, type AnalysisOrder, readMessage } from './job.ts';
import { type Models, readModels } from './models/manifest.ts';
import { findProgram } from './programs.ts';
import type { EngineSettings } from './settings.ts';

export type ChildCommand = readonly [string, ...string[]];

/** How the child of one analysis is started. */
export interface ChildStart {
  command: ChildCommand;
  /** Where it isn't the server's. */
  user?: { uid: number; gid: number };
  /** The task's folder by the name that the child has for it. */
  folder: string;
  /** Whether what it writes goes to the disk, where nothing but us counts it. */
  writesToDisk: boolean;
}

/** How a server starts the child that analyses a medium, and how it talks to it. */
export interface AnalysisProgram {
  /** @param folder the task's own, in which it runs; what it may read of it is there by now */
  startIn(folder: string): ChildStart;
  environment: Readonly<Record<string, string>>;
  orderOf(job: AnalysisJob): AnalysisOrder;
  /** @throws Error for anything that is no message of the child */
  readMessage(value: unknown): AnalysisMessage;
}

const RUNS_FROM_SOURCE = import.meta.url.endsWith('.ts');
/** Models are outside of this; the objects of an analysis are few. */
const HEAP_MEGABYTES = 512;

/** @param start what keeps it apart from the server; left out: nothing */
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

/** The child itself, the programs that it starts, and the files and folders that it reads besides its medium. */
export function needsOfAnalysis(settings: EngineSettings): {
  entry: ChildCommand;
  programs: string[];
  reads: string[];
} {
  const { searchPath, modelDir, pocketsphinxModel } = settings;
  const own = ['package.json', 'node_modules', RUNS_FROM_SOURCE ? 'src' : 'dist', 'src/engines/node_modules'];
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

/** Models are often links into a store of files elsewhere. */
function linksIn(folder: string): string[] {
  const entries = fs.readdirSync(folder, { recursive: true, withFileTypes: true });
  const links = entries.filter((entry) => entry.isSymbolicLink());
  return links.map(({ parentPath, name }) => path.join(parentPath, name)).filter(fs.existsSync);
}

function filesOf({ speech, detectors }: Models): string[] {
  return [...speech.flatMap(({ files }) => Object.values(files)), ...detectors.map(({ file }) => file)];
}

/** The bundle, or the source where this itself runs from source. */
function entry(): ChildCommand {
  const node = [process.execPath, `--max-old-space-size=${HEAP_MEGABYTES}`] as const;
  if (!RUNS_FROM_SOURCE) return [...node, path.join(packageRoot, 'dist/src/engines/child/main.js')];
  const tsx = createRequire(import.meta.url).resolve('tsx');
  return [...node, '--import', pathToFileURL(tsx).href, path.join(packageRoot, 'src/engines/child/main.ts')];
}
