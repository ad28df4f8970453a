import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from '../acceptance/processes.ts';

const read = (file: string) => fs.readFileSync(path.join(ROOT, file), 'utf8');
/** Files that git knows, or would. */
const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: ROOT,
  encoding: 'utf8',
  maxBuffer: 2 ** 26,
})
  .split('\n')
  .filter((file) => file !== '' && fs.existsSync(path.join(ROOT, file)));
const documents = files.filter((file) => file.endsWith('.md'));

const withoutCode = (text: string) => text.replaceAll(/^ *```.*?^ *```/gms, '');

/** The anchors that GitHub makes of the headings of a document. */
const anchors = new Map<string, Set<string>>();
function anchorsOf(file: string): Set<string> {
  const known = anchors.get(file);
  if (known) return known;
  const headings = [...withoutCode(read(file)).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\p{M}_ -]/gu, '')
      .replaceAll(' ', '-'),
  );
  const found = new Set(headings);
  anchors.set(file, found);
  return found;
}

it('every link of a document leads to a file, and to a heading of it', () => {
  const broken = documents.flatMap((file) =>
    [...withoutCode(read(file)).matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, link = '']) => {
      if (/^[a-z]+:/.test(link)) return [];
      const [target = '', anchor] = link.split('#');
      const name = target === '' ? file : path.join(path.dirname(file), target);
      if (!fs.existsSync(path.join(ROOT, name))) return [`${file}: ${link}`];
      return anchor === undefined || anchorsOf(name).has(anchor) ? [] : [`${file}: ${link}`];
    }),
  );
  expect(broken).toEqual([]);
  expect(documents.length).toBeGreaterThan(40);
});

it('every document that code, messages and other files name is there', () => {
  const others = files.filter((file) => !file.endsWith('.svg') && fs.statSync(path.join(ROOT, file)).size < 2 ** 22);
  const missing = others.flatMap((file) =>
    [...read(file).matchAll(/\bdocs\/[\w/-]+\.(?:md|svg)\b/g)].flatMap(([name]) =>
      fs.existsSync(path.join(ROOT, name)) ? [] : [`${file}: ${name}`],
    ),
  );
  expect([...new Set(missing)]).toEqual([]);
});
