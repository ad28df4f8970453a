import fs from 'node:fs/promises';
import { createRequire } from 'node:module';
import { setThreadsCount, setWasmPaths } from '@tensorflow/tfjs-backend-wasm';
import * as tf from '@tensorflow/tfjs-core';
import type { Frame } from '../interfaces.ts';
import { MODEL_PACKAGES, packageFile } from '../packages.ts';

/**
 * Starts TensorFlow.js on WebAssembly: no native code, no installation script, and ten times as fast as its
 * pure JavaScript.
 */
export async function startTensors(): Promise<void> {
  setWasmPaths(packageFile('@tensorflow/tfjs-backend-wasm', 'dist/'));
  // One task must not take all processors.
  setThreadsCount(1);
  await tf.setBackend('wasm');
  await tf.ready();
}

interface ModelFile {
  modelTopology: object;
  format: string;
  weightsManifest: { paths: string[]; weights: tf.io.WeightsManifestEntry[] }[];
}

/** Loads a model of nsfwjs, which consists of JavaScript modules: one for the graph, the others with base64 text. */
export function nsfwModel(name: string): tf.io.IOHandler {
  const require = createRequire(import.meta.url);
  const part = (file: string): unknown =>
    require(packageFile(MODEL_PACKAGES.nsfw, `dist/models/${name}/${file}.min.js`));
  return {
    load: () => {
      const model = part('model') as ModelFile;
      const shards = model.weightsManifest
        .flatMap(({ paths }) => paths)
        .map((file) => Buffer.from(part(file) as string, 'base64'));
      return Promise.resolve(artifacts(model, Buffer.concat(shards)));
    },
  };
}

/** Loads a model of human, which consists of model.json and one file of weights. */
export function humanModel(name: string): tf.io.IOHandler {
  const file = (extension: string) => packageFile(MODEL_PACKAGES.objects, `models/${name}.${extension}`);
  return {
    load: async () => {
      const model = JSON.parse(await fs.readFile(file('json'), 'utf8')) as ModelFile;
      return artifacts(model, await fs.readFile(file('bin')));
    },
  };
}

function artifacts(model: ModelFile, weights: Buffer): tf.io.ModelArtifacts {
  return {
    modelTopology: model.modelTopology,
    format: model.format,
    weightSpecs: model.weightsManifest.flatMap((group) => group.weights),
    weightData: new Uint8Array(weights).buffer,
  };
}

/** Returns a batch of one picture: height, width, colours. */
export function pictureTensor({ rgb }: Frame, size: number, divisor: number): tf.Tensor4D {
  return tf.tensor4d(
    Float32Array.from(rgb, (value) => value / divisor),
    [1, size, size, 3],
  );
}
