/**
 * Languages of speech and subtitles by their ISO 639-2 codes. Some languages have a bibliographic and a
 * terminological code (`ger` and `deu`); both mean the same language.
 */
const ONE_CODE =
  'afr amh ara asm aze bak bel ben bos bre bul cat dan eng est fao fin glg guj hat hau haw heb hin hrv hun ' +
  'ind ita jav jpn kan kaz khm kor lao lat lav lin lit ltz mal mar mlg mlt mon nep nno nor oci pan pol por ' +
  'pus rus san sin slv sna snd som spa srp sun swa swe tam tat tel tgk tgl tha tuk tur ukr urd uzb vie yid yor';

const BIBLIOGRAPHIC_BY_TERMINOLOGICAL: Readonly<Record<string, string>> = {
  bod: 'tib',
  ces: 'cze',
  cym: 'wel',
  deu: 'ger',
  ell: 'gre',
  eus: 'baq',
  fas: 'per',
  fra: 'fre',
  hye: 'arm',
  isl: 'ice',
  kat: 'geo',
  mkd: 'mac',
  mri: 'mao',
  msa: 'may',
  mya: 'bur',
  nld: 'dut',
  ron: 'rum',
  slk: 'slo',
  sqi: 'alb',
  zho: 'chi',
};

/** Maps every accepted code to its bibliographic code. */
const CANONICAL: ReadonlyMap<string, string> = new Map([
  ...ONE_CODE.split(' ').map((code) => [code, code] as const),
  ...Object.values(BIBLIOGRAPHIC_BY_TERMINOLOGICAL).map((code) => [code, code] as const),
  ...Object.entries(BIBLIOGRAPHIC_BY_TERMINOLOGICAL),
]);

/** The bibliographic codes of all known languages. */
export const LANGUAGES: readonly string[] = [...new Set(CANONICAL.values())].sort();

/** Returns the bibliographic code of a language for either of its codes; undefined for an unknown code. */
export function languageOf(code: string): string | undefined {
  return CANONICAL.get(code);
}

export function unknownLanguage(code: string): string {
  return `${JSON.stringify(code)} is not a known language; send an ISO 639-2 code of three small letters, such as eng, ger or deu.`;
}
