import type { Look } from '../frames/moderation.ts';
import { UnusableMediaError } from '../interfaces.ts';
import { type Inventory, type PictureEngine, type SpeechEngine, speechEngineFor, takeInventory } from '../inventory.ts';
import type { AnalysisOrder, ModerationJob, TranscriptionJob } from '../job.ts';
import { languageOf } from '../languages.ts';
import type { InspectedMedia } from '../media/inspection.ts';
import { createMediaTools } from '../media/tools.ts';
import { createPrograms, type Programs } from '../programs.ts';
import type { Report } from '../report.ts';
import type { AnalysisResult } from '../results.ts';

/** What the analyses of one medium share. */
interface Bench {
  inventory: Inventory;
  programs: Programs;
  tools: ReturnType<typeof createMediaTools>;
  report: Report;
  settings: AnalysisOrder['settings'];
}

/**
 * Carries out the order. Loads models late: only those of this job, and only for a usable medium.
 * @throws UnusableMediaError
 */
export async function analyse({ job, settings }: AnalysisOrder, report: Report): Promise<AnalysisResult> {
  const inventory = await takeInventory(settings);
  if (!inventory.media.found) throw new UnusableMediaError(`No medium can be read here: ${inventory.media.missing}`);
  const programs = createPrograms({
    searchPath: settings.searchPath,
    folder: job.folder,
    limits: job.limits,
  });
  const tools = createMediaTools({
    ...inventory.media.found,
    programs,
    folder: job.folder,
    limits: job.limits,
  });
  const bench: Bench = { inventory, programs, tools, report, settings };
  return job.kind === 'transcription' ? transcription(job, bench) : moderation(job, bench);
}

async function inspected({ tools, report }: Bench, media: string): Promise<InspectedMedia> {
  report.stage('inspection');
  const facts = await tools.inspect(media);
  report.facts(facts.durationSeconds, facts.picture?.framesPerSecond);
  return facts;
}

async function transcription(job: TranscriptionJob, bench: Bench): Promise<AnalysisResult> {
  const { inventory, tools, report } = bench;
  const wish = { audio: canonical(job.audioLanguage), subtitles: canonical(job.subtitlesLanguage) };
  const engine = speechEngineFor(inventory, wish);
  if (!engine.found) throw new UnusableMediaError(engine.missing);
  const facts = await inspected(bench, job.media);
  if (!facts.hasAudio) throw new UnusableMediaError(`The ${facts.format} file has no audio track.`);
  const { transcribe } = await import('../speech/transcription.ts');
  const transcriber = await transcriberOf(engine.found.how, bench, job.folder);
  const record = (heard: (share: number) => void) => tools.record(job.media, facts, heard);
  return transcribe({ record, transcriber, wish, report });
}

async function transcriberOf(how: SpeechEngine['how'], { programs, settings }: Bench, folder: string) {
  if (how.kind === 'sherpa') {
    const { createSherpaTranscriber } = await import('../speech/sherpa.ts');
    return createSherpaTranscriber(how.model);
  }
  const { createPocketsphinx } = await import('../speech/pocketsphinx.ts');
  const { minWordConfidence } = settings;
  return createPocketsphinx({ ...how, programs, folder, minWordConfidence });
}

async function moderation(job: ModerationJob, bench: Bench): Promise<AnalysisResult> {
  const { inventory, tools, report } = bench;
  const engine = inventory.pictures[job.category];
  if (!engine.found)
    throw new UnusableMediaError(`Moderation of the category ${job.category} is unsupported here: ${engine.missing}`);
  const facts = await inspected(bench, job.media);
  if (!facts.picture) throw new UnusableMediaError(`The ${facts.format} file has no video track.`);
  const look: Look = {
    durationSeconds: facts.durationSeconds,
    frames: (plan) => tools.frames(job.media, facts, plan),
    maxFrames: job.limits.frames,
    report,
  };
  const { findNsfw, findNudity, findSport } = await import('../frames/moderation.ts');
  if (engine.found.how.kind === 'nsfwjs') {
    const { createNsfwModerator } = await import('../frames/nsfw.ts');
    return findNsfw(look, await createNsfwModerator());
  }
  const detector = await detectorOf(engine.found.how);
  return job.category === 'sport' ? findSport(look, detector) : findNudity(look, detector, job);
}

async function detectorOf(how: Exclude<PictureEngine['how'], { kind: 'nsfwjs' }>) {
  if (how.kind === 'detector') {
    const { createYoloDetector } = await import('../frames/yolo.ts');
    return createYoloDetector(how.model, how.runtimeFile);
  }
  const { createCenterNet } = await import('../frames/centernet.ts');
  return createCenterNet();
}

/** @throws UnusableMediaError */
function canonical(code: string | null): string | null {
  if (code === null) return null;
  const language = languageOf(code);
  if (language === undefined) throw new UnusableMediaError(`The language ${code} isn't known.`);
  return language;
}
