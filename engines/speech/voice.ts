import sherpa from 'sherpa-onnx-node';
import type { Phrase, Recording } from '../interfaces.ts';
import { MODEL_PACKAGES, packageFile } from '../packages.ts';
import { pieces, SAMPLE_RATE } from './recording.ts';

const MODEL = packageFile(MODEL_PACKAGES.voice, 'dist/silero_vad_v5.onnx');
/** Samples that the model takes at a time. */
const WINDOW = 512;
const WINDOWS_PER_PIECE = 256;
/** Recognisers do better with a little silence around each phrase (measured: docs/ai.md). */
const PADDING = 0.2 * SAMPLE_RATE;
const MAX_PHRASE_SECONDS = 12;
const BUFFER_SECONDS = 60;

/** Finds where somebody speaks. Music, noise and silence are not phrases, so that no words are made up for them. */
export async function findPhrases(recording: Recording, done: (share: number) => void): Promise<Phrase[]> {
  const detector = new sherpa.Vad(
    {
      sileroVad: {
        model: MODEL,
        threshold: 0.5,
        minSilenceDuration: 0.3,
        minSpeechDuration: 0.2,
        maxSpeechDuration: MAX_PHRASE_SECONDS,
        windowSize: WINDOW,
      },
      sampleRate: SAMPLE_RATE,
      numThreads: 1,
      debug: 0,
    },
    BUFFER_SECONDS,
  );
  const heard: Phrase[] = [];
  const drain = () => {
    for (; !detector.isEmpty(); detector.pop()) {
      const { start, samples } = detector.front(false);
      heard.push({ from: start, to: start + samples.length });
    }
  };
  for await (const { from, samples } of pieces(recording, WINDOW * WINDOWS_PER_PIECE)) {
    for (let at = 0; at + WINDOW <= samples.length; at += WINDOW) {
      detector.acceptWaveform(samples.subarray(at, at + WINDOW));
      drain();
    }
    done((from + samples.length) / recording.samples);
  }
  detector.flush();
  drain();
  return padded(heard, recording.samples);
}

/** Returns each phrase with some of the silence around it, up to the middle between it and its neighbours. */
export function padded(phrases: readonly Phrase[], end: number): Phrase[] {
  return phrases.map(({ from, to }, index) => {
    const before = phrases[index - 1]?.to ?? 0;
    const after = phrases[index + 1]?.from ?? end;
    return {
      from: Math.max(from - PADDING, Math.floor((before + from) / 2), 0),
      to: Math.min(to + PADDING, Math.ceil((to + after) / 2), end),
    };
  });
}
