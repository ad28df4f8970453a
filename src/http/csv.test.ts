import { expect, it } from 'vitest';
import { csvOf } from './streamed.ts';

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

it.each([
  ['=HYPERLINK("http://x.invalid")', `"'=HYPERLINK(""http://x.invalid"")"`],
  ['+1', "'+1"],
  ['-2+3', "'-2+3"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['\t=1', "'\t=1"],
  ['\r=1', `"'\r=1"`],
  ['＝1', "'＝1"],
  ['a=1', 'a=1'],
])('keeps a spreadsheet from running %j', (name, cell) => {
  expect(csvOf(['name'], [{ name }])).toBe(`name\r\n${cell}\r\n`);
});

it('leaves numbers as they are', () => {
  expect(csvOf(['size'], [{ size: -1.5 }])).toBe('size\r\n-1.5\r\n');
});
