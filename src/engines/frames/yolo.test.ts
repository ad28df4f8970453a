import { expect, it } from 'vitest';
import { bestSightings, planes } from './yolo.ts';

it('puts colours into planes from 0 to 1', () => {
  const rgb = new Uint8Array([255, 0, 51, 0, 255, 0, 0, 0, 255, 255, 255, 255]);
  const [first = 0, ...others] = planes({ number: 0, rgb }, 2);
  expect([first, ...others].map((value) => Number(value.toFixed(1)))).toEqual([
    1, 0, 0, 1, 0, 1, 0, 1, 0.2, 0, 1, 1,
  ]);
});

it('takes the surest box of each label', () => {
  // Two boxes: four rows of places, then the scores of each label.
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
