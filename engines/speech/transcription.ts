import type { Recording, Transcriber } from '../interfaces.ts';
import type { Report } from '../report.ts';
import type { TranscriptionResult } from '../results.ts';
import { transcriptionResult } from './subtitles.ts';
import { findPhrases } from './voice.ts';

/** Shares of the work, measured with pocketsphinx: recognition takes nearly all of it. */
const RECORDED = 0.1;
const LISTENED = 0.15;

/** Turns a medium into its subtitles. */
export async function transcribe(options: {
  /** @param heard receives the share that is recorded */
  record(heard: (share: number) => void): Promise<Recording>;
  transcriber: Transcriber;
  wish: Parameters<Transcriber['transcribe']>[2];
  report: Report;
}): Promise<TranscriptionResult> {
  const { transcriber, wish, report } = options;
  report.stage('decoding');
  const recording = await options.record((share) => report.progress(share * RECORDED));
  const phrases = await findPhrases(recording, (share) => report.progress(RECORDED + share * (LISTENED - RECORDED)));
  if (phrases.length === 0) return transcriptionResult([], []);
  report.stage('recognition');
  const { words, languages } = await transcriber.transcribe(recording, phrases, wish, (share) =>
    report.progress(LISTENED + share * (1 - LISTENED)),
  );
  return transcriptionResult(words, words.length > 0 ? languages : []);
}
