import { loadGraphModel } from '@tensorflow/tfjs-converter';
import * as tf from '@tensorflow/tfjs-core';
import { loadLayersModel } from '@tensorflow/tfjs-layers';
import type { Frame, FrameModerator } from '../interfaces.ts';
import { nsfwModel, pictureTensor, startTensors } from './tensors.ts';

const SIZE = 224;
const WHITE = 255;
/** In the order of the models' scores. */
export const NSFW_CLASSES = ['Drawing', 'Hentai', 'Neutral', 'Porn', 'Sexy'] as const;
const NSFW = new Set<string>(['Hentai', 'Porn'] satisfies (typeof NSFW_CLASSES)[number][]);
export const NSFW_MODELS = ['mobilenet_v2', 'mobilenet_v2_mid'] as const;

type Predict = (input: tf.Tensor) => tf.Tensor | tf.Tensor[] | tf.NamedTensorMap;

export interface NsfwModerator extends FrameModerator {
  /** Returns each model's scores for a picture, in the order of NSFW_CLASSES. */
  scores(frame: Frame): Promise<Record<(typeof NSFW_MODELS)[number], number[]>>;
}

/**
 * Two small classifiers that were trained separately. Their mean is wrong less often than either: where one
 * of them takes fruits or athletes for nudity, the other doesn't (measured: docs/ai.md).
 */
export async function createNsfwModerator(): Promise<NsfwModerator> {
  await startTensors();
  const layers = await loadLayersModel(nsfwModel('mobilenet_v2'));
  const graph = await loadGraphModel(nsfwModel('mobilenet_v2_mid'));

  async function scores(frame: Frame): ReturnType<NsfwModerator['scores']> {
    const input = pictureTensor(frame, SIZE, WHITE);
    try {
      return {
        mobilenet_v2: await read((x) => layers.predict(x), input),
        mobilenet_v2_mid: await read((x) => graph.predict(x), input),
      };
    } finally {
      input.dispose();
    }
  }

  return {
    form: { size: SIZE, fit: 'stretch' },
    scores,
    async confidence(frame) {
      const each = Object.values(await scores(frame)).map((values) =>
        values.reduce((sum, value, index) => sum + (NSFW.has(NSFW_CLASSES[index] ?? '') ? value : 0), 0),
      );
      return each.reduce((sum, value) => sum + value, 0) / each.length;
    },
  };
}

async function read(predict: Predict, input: tf.Tensor): Promise<number[]> {
  const output = predict(input);
  if (!(output instanceof tf.Tensor)) throw new Error('The classifier has more than one output');
  try {
    return [...(await output.data())];
  } finally {
    output.dispose();
  }
}
