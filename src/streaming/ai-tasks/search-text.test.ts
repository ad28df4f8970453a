import { expect, test } from 'vitest';
import { containing } from '../../lib/texts.ts';
import { folded, searchText } from './page.ts';

test('case, accents in two encodings and final sigma make no difference', () => {
  expect(folded('STRASSE É ΟΔΟΣ')).toBe('strasse é οδοσ');
  expect(folded('e\u0301')).toBe(folded('É'));
  expect(folded('οδος')).toBe(folded('ΟΔΟΣ'));
});

test('holds the id and every value', () => {
  const text = searchText('4D5E', {
    task_name: 'transcription',
    client_id: 7,
    url: 'http://A.example/B.mp4',
  });
  for (const value of ['4d5e', 'transcription', '7', 'http://a.example/b.mp4']) expect(text).toContain(value);
});

test('no search reaches from one value into the next, whatever characters it has', () => {
  const text = searchText('id', { url: 'ab', client_user_id: 'cd' });
  for (const between of ['', ' ', ',', '\n', '\u001f', '\ufffd']) expect(text).not.toContain(folded(`b${between}c`));
});

test('a value that holds the separator is found by it', () => {
  expect(searchText('id', { client_user_id: 'a\u001fb' })).toContain(folded('A\u001fB'));
});

test('wildcards of LIKE are ordinary characters', () => {
  expect(containing('50%_a\\b')).toBe('%50\\%\\_a\\\\b%');
});
