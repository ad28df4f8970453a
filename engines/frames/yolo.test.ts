import { describe, expect, it } from 'vitest';
import { makeFile, scratch } from '../../test/support/engines.ts';
import { findOnnxRuntime } from './onnx-runtime.ts';
import { bestSightings, createYoloDetector, planes } from './yolo.ts';

it('puts colours into planes from 0 to 1', () => {
  const rgb = new Uint8Array([255, 0, 51, 0, 255, 0, 0, 0, 255, 255, 255, 255]);
  const [first = 0, ...others] = planes({ number: 0, rgb }, 2);
  expect([first, ...others].map((value) => Number(value.toFixed(1)))).toEqual([1, 0, 0, 1, 0, 1, 0, 1, 0.2, 0, 1, 1]);
});

it('takes the surest box of each label', () => {
  // Two boxes: four rows of coordinates, then the scores of each label.
  const boxes = [9, 9, 9, 9, 9, 9, 9, 9];
  const scores = [0.25, 0.75, 0, 0, 0.5, 0.125];
  const model = { name: 'test', labels: ['A', 'B', 'C'] };
  expect(bestSightings(Float32Array.from([...boxes, ...scores]), [1, 7, 2], model)).toEqual([
    { label: 'A', confidence: 0.75 },
    { label: 'C', confidence: 0.5 },
  ]);
});

it('refuses a model whose labels are not those of the manifest', () => {
  const model = { name: 'test', labels: ['A'] };
  expect(() => bestSightings(new Float32Array(14), [1, 7, 2], model)).toThrow(
    'test answers [1, 7, 2]; [1, 5, boxes] was expected',
  );
});

const runtime = findOnnxRuntime(scratch);
if (!runtime) {
  process.stderr.write(
    'SKIPPED, for want of onnxruntime-node: run "ONNXRUNTIME_NODE_INSTALL=skip npm install --no-save onnxruntime-node@1.30.0"\n',
  );
}

/**
 * The smallest ONNX file with the shape of a YOLOv8: it only reshapes the picture [1, 3, 32, 32] to [1, 6,
 * 512], so that the scores of its two labels are the upper and the lower half of the blue channel.
 */
const RESHAPE =
  'CAg6gAEKGQoGaW1hZ2VzCgFzEgNvdXQiB1Jlc2hhcGUSAWcqIgoBAxAHQgFzShgBAAAAAAAAAAYAAAAAAAAAAAIAAAAAAABaIAoGaW1hZ2VzEhYK' +
  'FAgBEhAKAggBCgIIAwoCCCAKAgggYhoKA291dBITChEIARINCgIIAQoCCAYKAwiABEIECgAQEQ==';

describe('a detector of the operator', { skip: !runtime }, () => {
  it('is run by onnxruntime', async () => {
    if (!runtime) throw new Error('skipped');
    const detector = await createYoloDetector(
      {
        name: 'halves',
        version: '1',
        format: 'yolov8',
        inputSize: 32,
        file: makeFile('reshape.onnx', Buffer.from(RESHAPE, 'base64')),
        labels: ['UPPER', 'LOWER'],
        categories: ['hard_nudity'],
      },
      runtime.file,
    );
    const rgb = new Uint8Array(32 * 32 * 3);
    rgb[2] = 51;
    rgb[31 * 32 * 3 + 2] = 255;
    rgb[31 * 32 * 3] = 255;
    expect(await detector.detect({ number: 0, rgb })).toEqual([
      { label: 'UPPER', confidence: expect.closeTo(0.2, 5) },
      { label: 'LOWER', confidence: 1 },
    ]);
  });
});
