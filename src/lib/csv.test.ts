import { expect, it } from 'vitest';
import { csvOf } from './csv.ts';

it('quotes what would be read as something else', () => {
  const text = csvOf(
    ['name', 'size', 'tags'],
    [
      { name: 'plain', size: 1.5 },
      { name: 'a, "b"\nc', size: null, tags: [{ key: 'env' }] },
    ],
  );
  expect(text).toBe('name,size,tags\r\nplain,1.5,\r\n"a, ""b""\nc",,"[{""key"":""env""}]"\r\n');
});
