import { expect, test } from 'vitest';
import type { PriceTerms } from '../catalog/service.ts';
import { offerPrice } from './service.ts';

const terms: PriceTerms = {
  currency: 'EUR',
  taxPercent: '17',
  discount: '0.16',
  visibility: 'show',
  trial: false,
};

test.each<[string, Partial<PriceTerms>, string | undefined, object]>([
  // 1.2 x 0.84 x 1.17 = 1.17936; a month is 720 times that.
  ['with discount and tax', {}, '1.2', { hour: 1.17936, month: 849.1392, status: 'show' }],
  ['that costs nothing', {}, '0', { hour: 0, month: 0, status: 'show' }],
  ['not in the book', {}, undefined, { hour: null, month: null, status: 'error' }],
  ['hidden', { visibility: 'hide' }, '1.2', { hour: null, month: null, status: 'hide' }],
  ['on trial', { trial: true }, '1.2', { hour: 0, month: 0, status: 'show' }],
  ['on trial, not in the book', { trial: true }, undefined, { hour: 0, month: 0, status: 'show' }],
  ['hidden on trial', { trial: true, visibility: 'hide' }, '1', { hour: null, month: null, status: 'hide' }],
])('a price %s', (_, own, book, expected) => {
  const price = offerPrice({ ...terms, ...own }, book);
  expect(price.currency_code).toBe('EUR');
  expect({
    hour: price.price_per_hour,
    month: price.price_per_month,
    status: price.price_status,
  }).toEqual(expected);
});
