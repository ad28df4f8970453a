import { expect, test } from 'vitest';
import { fileUrlProblem, shownUrl } from './file-url.ts';

const EXAMPLE = 'https://example.com/a.mp4';

test.each([
  'http://example.com/a.mp4',
  'HTTPS://example.com',
  'https://user:secret@cdn.example.com:8443/a%20b.mp4?x=1&y=%2F#t=5',
  'http://10.0.0.1/a.jpg',
  'http://[2001:db8::1]/a.png',
  'https://пример.example/видео.mp4',
  'http://localhost/a.mp4',
])('%s may be fetched', (text) => {
  expect(fileUrlProblem(text, EXAMPLE)).toBeUndefined();
});

test.each([
  '',
  'example.com/a.mp4',
  'ftp://example.com/a.mp4',
  'file:///etc/passwd',
  'ftp://example.com/http://example.com/a.mp4',
  'javascript:alert(1)',
  'http:example.com',
  'http:///a.mp4',
  'http://',
  'http://?x',
  'http://a b.example/a.mp4',
  'http://example.com/a b.mp4',
  'http://example.com\\a.mp4',
  ' http://example.com/a.mp4',
  'http://example.com/a.mp4\n',
  'http://exa\tmple.com/a.mp4',
  'http://example.com:99999/',
  'http://[::1/',
  '//example.com/a.mp4',
])('%j is refused', (text) => {
  expect(fileUrlProblem(text, EXAMPLE)).toContain(`http:// or https:// with a host, e.g. ${EXAMPLE}`);
});

test.each([
  ['https://user:secret@example.com:8443/a%20b.img?signature=secret#secret', 'https://example.com:8443/a%20b.img'],
  ['http://example.com', 'http://example.com/'],
])('%s is shown as %s', (text, shown) => {
  expect(shownUrl(text)).toBe(shown);
});
