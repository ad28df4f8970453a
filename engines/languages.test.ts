import { expect, test } from 'vitest';
import { languageOf } from './languages.ts';

const published =
  'afr alb amh ara arm asm aze bak baq bel ben bos bre bul bur cat chi cze dan dut eng est fao fin fre geo ger ' +
  'glg gre guj hat hau haw heb hin hrv hun ice ind ita jav jpn kan kaz khm kor lao lat lav lin lit ltz mac mal ' +
  'mao mar may mlg mlt mon nep nor oci pan per pol por pus rum rus san sin slo slv sna snd som spa srp sun swa ' +
  'swe tam tat tel tgk tgl tha tib tuk tur ukr urd uzb vie wel yid yor';

test('each of the published codes is known and is its own canonical form', () => {
  const codes = published.split(' ');
  expect(codes).toHaveLength(98);
  expect(codes.filter((code) => languageOf(code) !== code)).toEqual([]);
});

test('both codes of a language are the same language to the standard library', () => {
  const codes = 'bod ces cym deu ell eus fas fra hye isl kat mkd mri msa mya nld ron slk sqi zho'.split(' ');
  const short = (code: string | undefined) => Intl.getCanonicalLocales(code);
  expect(codes.map((code) => short(languageOf(code)))).toEqual(codes.map(short));
  expect(codes.filter((code) => languageOf(code) === code)).toEqual([]);
});

test.each([
  ['deu', 'ger'],
  ['fra', 'fre'],
  ['zho', 'chi'],
  ['bod', 'tib'],
  ['nno', 'nno'],
])('%s is the language %s', (code, language) => {
  expect(languageOf(code)).toBe(language);
});

test.each(['xyz', 'en', 'ENG', '', '__proto__'])('%j is no language', (code) => {
  expect(languageOf(code)).toBeUndefined();
});
