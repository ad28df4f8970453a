import { describe, expect, it } from 'vitest';
import { pagesAround } from './page.ts';

describe('the addresses of neighbouring pages', () => {
  it('exist only where there is a page, and keep limit and the other parameters', () => {
    const first = { limit: 100, offset: 0 };
    expect(pagesAround('/x', first, 100)).toEqual({ next: null, previous: null });
    expect(pagesAround('/x', first, 101).next).toBe('/x?offset=100&limit=100');
    expect(pagesAround('/x', { limit: 10, offset: 10 }, 30, { ordering: '-email', name: undefined })).toEqual({
      next: '/x?offset=20&limit=10&ordering=-email',
      previous: '/x?offset=0&limit=10&ordering=-email',
    });
    expect(pagesAround('/x', { limit: 10, offset: 20 }, 30).next).toBeNull();
    expect(pagesAround('/x', { limit: 10, offset: 5 }, 30, { name: 'a&b' }).previous).toBe(
      '/x?offset=0&limit=10&name=a%26b',
    );
  });
});
