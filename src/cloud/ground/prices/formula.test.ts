import { describe, expect, test } from 'vitest';
import type { PriceTerms } from '../catalog/service.ts';
import { sumOf, volumePrice } from './formula.ts';

const terms: PriceTerms = {
  currency: 'EUR',
  taxPercent: '17',
  discount: '0.16',
  visibility: 'show',
  trial: false,
};

test('the worked example', () => {
  expect(volumePrice(terms, '0.000137', 100)).toEqual({
    currency_code: 'EUR',
    discount_percent: 0.16,
    price_per_hour: 0.01346436,
    price_per_month: 9.6943392,
    price_without_discount_per_month: 11.54088,
    price_status: 'show',
    tax_percent: 17,
  });
});

describe('amounts', () => {
  test.each<[discount: string, tax: string, price: string, size: number, hour: number, month: number, list: number]>([
    ['0', '0', '0.01', 100, 1, 720, 720],
    ['0', '0', '0.0001', 100, 0.01, 7.2, 7.2],
    ['1', '20', '0.0001', 10, 0, 0, 0.864],
    ['0', '20', '0', 10, 0, 0, 0],
    // Sums that floats get wrong, such as 0.1 + 0.2.
    ['0', '0', '0.1', 3, 0.3, 216, 216],
    ['0.3', '0', '0.0001', 7, 0.00049, 0.3528, 0.504],
    ['0', '25.5', '0.0001', 1, 0.0001255, 0.09036, 0.09036],
    // Rounds half to even at the tenth decimal, from both sides. The month follows from the rounded hour.
    ['0', '0', '0.00000000005', 1, 0, 0, 0],
    ['0', '0', '0.00000000015', 1, 0.0000000002, 0.000000144, 0.000000144],
    ['0', '0', '0.00000000025', 1, 0.0000000002, 0.000000144, 0.000000144],
    ['0.3333', '18', '0.000123', 1, 0.0000967648, 0.069670656, 0.1045008],
    // The largest volume at a high price.
    ['0.07', '21', '0.0123', 102400, 1417.337856, 1020483.25632, 1097293.824],
  ])('discount %s, tax %s: %s x %s', (discount, taxPercent, price, size, hour, month, list) => {
    const found = volumePrice({ ...terms, discount, taxPercent }, price, size);
    expect([found.price_per_hour, found.price_per_month, found.price_without_discount_per_month]).toEqual([
      hour,
      month,
      list,
    ]);
  });

  test('JSON shows no float noise', () => {
    for (const size of [1, 3, 7, 33, 999, 102400]) {
      for (const price of ['0.00008', '0.000137', '0.000274', '0.001']) {
        const { price_per_month: month, price_per_hour: hour } = volumePrice(terms, price, size);
        expect(JSON.stringify(month)).toMatch(/^\d+(\.\d{1,9})?$/);
        expect(JSON.stringify(hour)).toMatch(/^\d+(\.\d{1,10})?$/);
      }
    }
  });
});

describe('without amounts', () => {
  const empty = {
    currency_code: 'EUR',
    discount_percent: null,
    price_per_hour: null,
    price_per_month: null,
    price_without_discount_per_month: null,
    tax_percent: 17,
  };

  test('no price in the book is an error', () => {
    expect(volumePrice(terms, undefined, 10)).toEqual({ ...empty, price_status: 'error' });
  });

  test.each(['0.000137', undefined])('hidden prices stay hidden, book price %s', (price) => {
    expect(volumePrice({ ...terms, visibility: 'hide' }, price, 10)).toEqual({
      ...empty,
      price_status: 'hide',
    });
  });
});

describe('the sum of prices', () => {
  const price = (book: string | undefined, size: number) => volumePrice(terms, book, size);

  test('adds hours and months without float noise', () => {
    const free = { ...terms, discount: '0', taxPercent: '0' };
    const prices = ['0.1', '0.2'].map((book) => volumePrice(free, book, 1));
    expect(sumOf(free, prices)).toEqual({
      currency_code: 'EUR',
      discount_percent: 0,
      price_per_hour: 0.3,
      price_per_month: 216,
      price_without_discount_per_month: 216,
      price_status: 'show',
      tax_percent: 0,
    });
  });

  test('keeps the discount apart', () => {
    expect(sumOf(terms, [price('0.000137', 100), price('0.000137', 100)])).toMatchObject({
      discount_percent: 0.16,
      price_per_hour: 0.02692872,
      price_per_month: 19.3886784,
      price_without_discount_per_month: 23.08176,
    });
  });

  test('of nothing is nothing to pay', () => {
    expect(sumOf(terms, [])).toMatchObject({ price_per_hour: 0, price_per_month: 0, price_status: 'show' });
  });

  test('has no amounts where one of them has none', () => {
    expect(sumOf(terms, [price('0.000137', 100), price(undefined, 100)])).toEqual(price(undefined, 100));
    const hidden = { ...terms, visibility: 'hide' as const };
    expect(sumOf(hidden, [volumePrice(hidden, '0.000137', 1)])).toEqual(volumePrice(hidden, '0.000137', 1));
  });
});
