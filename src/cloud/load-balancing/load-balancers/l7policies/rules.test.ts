import { describe, expect, it } from 'vitest';
import { type RuleValues, ruleProblems, targetProblems } from './rules.ts';

describe('a rule', () => {
  const path = { type: 'PATH', compare_type: 'STARTS_WITH', key: null, value: '/images' };
  it.each<[Partial<RuleValues>, string[]]>([
    [{}, []],
    [{ type: 'HEADER' }, ['key']],
    [{ type: 'COOKIE', key: 'session' }, []],
    [{ key: 'session' }, ['key']],
    [{ type: 'FILE_TYPE', compare_type: 'EQUAL_TO', value: 'jpg' }, []],
    [{ type: 'FILE_TYPE', compare_type: 'CONTAINS', value: 'jpg' }, ['compare_type']],
    [{ type: 'SSL_CONN_HAS_CERT', compare_type: 'EQUAL_TO', value: 'True' }, []],
    [{ type: 'SSL_CONN_HAS_CERT', compare_type: 'EQUAL_TO', value: 'yes' }, ['value']],
    [{ type: 'SSL_VERIFY_RESULT', compare_type: 'EQUAL_TO', value: '0' }, []],
    [{ type: 'SSL_VERIFY_RESULT', compare_type: 'REGEX', value: 'none' }, ['compare_type', 'value']],
    [{ type: 'SSL_DN_FIELD', compare_type: 'EQUAL_TO', value: 'x' }, ['key']],
    [{ compare_type: 'REGEX', value: '^/img/[0-9]+$' }, []],
    [{ compare_type: 'REGEX', value: '(?i)^/(?P<kind>a|b) x$' }, []],
    [{ compare_type: 'REGEX', value: '^/img/[0-9+$' }, ['value']],
    [{ compare_type: 'REGEX', value: '(a' }, ['value']],
    [{ compare_type: 'REGEX', value: '*' }, ['value']],
    [{ value: '/my images' }, ['value']],
    [{ value: '"/my images"' }, []],
    [{ value: '/bücher' }, ['value']],
    [{ type: 'HOST_NAME', value: 'www.example.com' }, []],
    [{ type: 'HOST_NAME', value: 'www example com' }, ['value']],
    [{ type: 'HEADER', key: 'Accept', value: 'text/html;q=0.9' }, []],
    [{ type: 'COOKIE', key: 'session', value: 'a;b' }, ['value']],
    [{ type: 'COOKIE', key: 'session', value: '"a"' }, ['value']],
    [{ type: 'COOKIE', key: 'session', value: 'a=b/c' }, []],
    [{ type: 'SSL_DN_FIELD', key: 'CN', compare_type: 'EQUAL_TO', value: 'Jörg & Co' }, []],
  ])('%j', (change, expected) => {
    expect(ruleProblems({ ...path, ...change }).map(({ field }) => field)).toEqual(expected);
  });
});

describe('a regular expression of HAProxy', () => {
  const problems = (value: string) => ruleProblems({ type: 'PATH', compare_type: 'REGEX', key: null, value });

  it.each([
    'a++b*+c?+d{2}+',
    '(?>a|b)c',
    '(?i:a)b',
    '(?i-s:a)',
    '(?#not this)a',
    '(?P<n>a)(?P=n)',
    '(a)?(?(1)b|c)',
    '[](]',
    '[^](]',
    '[[:alpha:]]',
    '[\\t-a][!-\\]]',
    '[\\](]\\(\\++',
    '(?<=a)(?<!b)c',
  ])('may be %s', (value) => {
    expect(problems(value)).toEqual([]);
  });

  it.each(['(?>a', '(?i:a', 'a)', 'a+++', '+a', '[z-a]', '[](', 'a\\', 'a{2,1}', '(?i)(', '(?#a', '(?P<n'])(
    'can not be %s',
    (value) => {
      expect(problems(value)).toHaveLength(1);
    },
  );
});

it.each<['redirect_prefix' | 'redirect_url', string, boolean]>([
  ['redirect_url', 'https://www.example.com/a?b', true],
  ['redirect_url', '/a', false],
  ['redirect_url', 'ftp://www.example.com', false],
  ['redirect_url', 'www.example.com', false],
  ['redirect_prefix', '/api', true],
  ['redirect_prefix', 'http://www.example.com', true],
  ['redirect_prefix', 'api', false],
])('%s %s', (field, text, fine) => {
  expect(targetProblems(field, text).length === 0).toBe(fine);
});
