import { Ajv } from 'ajv';
import fastJsonStringify from 'fast-json-stringify';
import { describe, expect, test } from 'vitest';
import { volumePrice } from '../../ground/prices/formula.ts';
import { volumePriceRequestSchema, volumePriceSchema } from './schema.ts';

const accepts = new Ajv({ allErrors: true, strict: false }).compile(volumePriceRequestSchema);

describe('request', () => {
  test.each([
    { source: 'new-volume', size: 1 },
    { source: 'image', size: 102400, type_name: 'ultra', snapshot_id: null },
    { source: 'snapshot', size: null, snapshot_id: 'anything', type_name: null },
  ])('takes %j', (body) => {
    expect(accepts(body), JSON.stringify(accepts.errors)).toBe(true);
  });

  test.each([
    {},
    { source: 'volume' },
    { source: 'image', size: 0 },
    { source: 'image', size: 102401 },
    { source: 'image', size: '10' },
    { source: 'image', size: 1.5 },
    { source: 'image', size: 1, type_name: 'fast' },
    { source: 'snapshot', snapshot_id: '' },
    { source: 'snapshot', snapshot_id: 5 },
    { source: 'image', size: 1, region: 1 },
  ])('refuses %j', (body) => {
    expect(accepts(body)).toBe(false);
    expect(accepts.errors).toHaveLength(1);
  });
});

describe('answer', () => {
  const stringify = fastJsonStringify(volumePriceSchema);

  test.each(['show', 'hide'] as const)('%s keeps every field', (visibility) => {
    const price = volumePrice(
      { currency: 'AZN', taxPercent: '18', discount: '0.1', visibility, trial: false },
      '0.0001',
      10,
    );
    expect(JSON.parse(stringify(price))).toEqual(price);
  });

  test('its example is what the formula gives', () => {
    const price = volumePrice(
      { currency: 'EUR', taxPercent: '17', discount: '0.16', visibility: 'show', trial: false },
      '0.000137',
      100,
    );
    expect(volumePriceSchema).toMatchObject({ examples: [price] });
  });
});
