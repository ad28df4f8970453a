import { createRequire } from 'node:module';
import path from 'node:path';
import { packageFile } from '../packages.ts';

/**
 * The part of onnxruntime-node that is used. It isn't a dependency: its 288 MB are only for operators with
 * their own model.
 */
interface OnnxTensor {
  data: unknown;
  dims: readonly number[];
}

export interface OnnxSession {
  readonly inputNames: readonly string[];
  readonly outputNames: readonly string[];
  run(feeds: Record<string, OnnxTensor>): Promise<Record<string, OnnxTensor>>;
}

export interface OnnxRuntime {
  Tensor: new (type: 'float32', data: Float32Array, dims: readonly number[]) => OnnxTensor;
  InferenceSession: {
    create(file: string, options: { intraOpNumThreads: number; interOpNumThreads: number }): Promise<OnnxSession>;
  };
}

const PACKAGE = 'onnxruntime-node';

/** Finds the runtime: beside the operator's models, or among our own packages. */
export function findOnnxRuntime(modelDir: string): { file: string; version: string } | undefined {
  for (const from of [path.join(modelDir, 'manifest.json'), packageFile('', 'index.js')]) {
    const require = createRequire(from);
    try {
      const file = require.resolve(PACKAGE);
      const { version } = require(`${PACKAGE}/package.json`) as { version: string };
      return { file, version };
    } catch {}
  }
  return undefined;
}

export function loadOnnxRuntime(file: string): OnnxRuntime {
  return createRequire(import.meta.url)(file) as OnnxRuntime;
}

export const ONNX_RUNTIME_HELP =
  'install onnxruntime-node beside the models: cd "$TRADEWIND_MODEL_DIR" && ONNXRUNTIME_NODE_INSTALL=skip npm install onnxruntime-node@1.30.0';
