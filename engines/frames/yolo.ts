import type { Frame, ObjectDetector, Sighting } from '../interfaces.ts';
import type { Detector } from '../models/manifest.ts';
import { loadOnnxRuntime } from './onnx-runtime.ts';

const WHITE = 255;
/** Centre and size of a box, which precede the scores. */
const BOX = 4;

/** A detector of the operator (such as NudeNet), run by onnxruntime. */
export async function createYoloDetector(model: Detector, runtimeFile: string): Promise<ObjectDetector> {
  const onnx = loadOnnxRuntime(runtimeFile);
  const session = await onnx.InferenceSession.create(model.file, {
    intraOpNumThreads: 1,
    interOpNumThreads: 1,
  });
  const [input = '', ...otherInputs] = session.inputNames;
  const [output = ''] = session.outputNames;
  if (input === '' || otherInputs.length > 0) throw new Error(`${model.name} does not have exactly one input`);

  return {
    form: { size: model.inputSize, fit: 'pad' },
    async detect(frame) {
      const tensor = new onnx.Tensor('float32', planes(frame, model.inputSize), [
        ...[1, 3, model.inputSize, model.inputSize],
      ]);
      const answer = (await session.run({ [input]: tensor }))[output];
      if (!(answer?.data instanceof Float32Array)) throw new Error(`${model.name} does not answer with numbers`);
      return bestSightings(answer.data, answer.dims, model);
    },
  };
}

/** Returns red, green and blue one after the other, from 0 to 1. */
export function planes({ rgb }: Frame, size: number): Float32Array {
  const pixels = size * size;
  const values = new Float32Array(3 * pixels);
  for (let pixel = 0; pixel < pixels; pixel++)
    for (let colour = 0; colour < 3; colour++) values[colour * pixels + pixel] = (rgb[pixel * 3 + colour] ?? 0) / WHITE;
  return values;
}

/** Returns the most confident sighting of each label, so that overlapping boxes of one thing count once. */
export function bestSightings(
  data: Float32Array,
  dims: readonly number[],
  { name, labels }: Pick<Detector, 'name' | 'labels'>,
): Sighting[] {
  const [batch, rows = 0, boxes = 0] = dims;
  if (batch !== 1 || rows !== BOX + labels.length)
    throw new Error(`${name} answers [${dims.join(', ')}]; [1, ${BOX + labels.length}, boxes] was expected`);
  return labels.flatMap((label, index) => {
    const scores = data.subarray((BOX + index) * boxes, (BOX + index + 1) * boxes);
    const confidence = Math.min(
      1,
      scores.reduce((best, score) => Math.max(best, score), 0),
    );
    return confidence > 0 ? [{ label, confidence }] : [];
  });
}
