import { expect, it } from 'vitest';
import { adviceOn } from './service.ts';

const TOKEN = `12_${'5ecre7'.repeat(10)}`;
const LOGIN = 'eyJhbGciOiJFUzI1NiJ9.eyJzaWQiOjF9.c2lnbmF0dXJl';
const FORM = /Authorization: apikey <id>_<secret>.*Authorization: Bearer <access token>/;

it.each([
  ['nothing', {}, FORM],
  ['X-Api-Key', { 'x-api-key': TOKEN }, /^The header X-Api-Key is ignored\. Send the header "Authorization: apikey/],
  ['Bearer and an API token', { authorization: `Bearer ${TOKEN}` }, /word apikey .*instead of Bearer/],
  ['a bare API token', { authorization: TOKEN }, /Write the word apikey .*before the token/],
  ['a bare API token of version 1', { authorization: TOKEN.replace('_', '$') }, /Write the word apikey/],
  ['a bare login', { authorization: LOGIN }, /Write the word Bearer/],
  ['apikey and a login', { authorization: `apikey ${LOGIN}` }, /write the word Bearer/],
  ['a secret without its id', { authorization: 'apikey 5ecre75ecre7' }, /<id>_<secret>\. Send it whole/],
  ['an id without its secret', { authorization: 'apikey 12_' }, /<id>_<secret>\. Send it whole/],
  ['two blanks', { authorization: `apikey  ${TOKEN}` }, /one space between/],
  ['a word more', { authorization: `apikey token ${TOKEN}` }, /takes one word, one space and the token/],
  ['another word', { authorization: `Token ${TOKEN}` }, /apikey or Bearer/],
  ['Basic', { authorization: 'Basic dXNlcjpwYXNzd29yZA==' }, FORM],
  ['Bearer and anything', { authorization: 'Bearer abc' }, FORM],
  ['Bearer alone', { authorization: 'Bearer' }, FORM],
])('of %s says what to send instead', (_, offered, advice) => {
  expect(adviceOn(offered)).toMatch(advice);
});

it('repeats nothing of what may be a secret', () => {
  for (const authorization of [TOKEN, `Bearer ${TOKEN}`, `apikey ${TOKEN} x`, `Token ${TOKEN}`]) {
    expect(adviceOn({ authorization, 'x-api-key': TOKEN })).not.toContain('5ecre7');
  }
});
