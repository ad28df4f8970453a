import { describe, expect, it } from 'vitest';
import type { Oidc } from '../../../../db/json-columns.ts';
import { oidcProblems } from './oidc.ts';

const valid: Oidc = {
  client_id: 'kubernetes',
  groups_claim: 'groups',
  groups_prefix: 'oidc:',
  issuer_url: 'https://accounts.example.com',
  required_claims: { hd: 'example.com' },
  signing_algs: ['RS256', 'ES256'],
  username_claim: 'email',
  username_prefix: 'oidc:',
};
const problemsWith = (change: Partial<Oidc>) => oidcProblems({ ...valid, ...change });

describe('accepts', () => {
  it.each<[string, Partial<Oidc>]>([
    ['everything', {}],
    [
      'the two needed fields alone',
      {
        groups_claim: null,
        groups_prefix: null,
        required_claims: null,
        signing_algs: null,
        username_claim: null,
        username_prefix: null,
      },
    ],
    ['a port and a path', { issuer_url: 'https://login.example.com:8443/realms/a@b' }],
    ['a URL in the path', { issuer_url: 'https://login.example.com/https://a@b' }],
    ['a user name without prefix', { username_prefix: '-' }],
    ['a prefix that only looks like the reserved one', { groups_prefix: 'systems:' }],
    ['no required claims', { required_claims: {} }],
  ])('%s', (_, change) => {
    expect(problemsWith(change)).toEqual([]);
  });
});

describe('refuses', () => {
  it.each<[string, Partial<Oidc>, string, RegExp]>([
    ['http', { issuer_url: 'http://accounts.example.com' }, 'issuer_url', /https:\/\//],
    ['a bare host', { issuer_url: 'accounts.example.com' }, 'issuer_url', /https:\/\//],
    ['no host', { issuer_url: 'https://' }, 'issuer_url', /valid URL/],
    ['a third slash', { issuer_url: 'https:///example.com' }, 'issuer_url', /valid URL/],
    ['a bad port', { issuer_url: 'https://example.com:99999' }, 'issuer_url', /valid URL/],
    ['a blank', { issuer_url: 'https://example.com/a b' }, 'issuer_url', /valid URL/],
    ['user info', { issuer_url: 'https://user:secret@example.com' }, 'issuer_url', /user name/],
    ['empty user info', { issuer_url: 'https://@example.com' }, 'issuer_url', /user name/],
    ['a query', { issuer_url: 'https://example.com?x=1' }, 'issuer_url', /query/],
    ['an empty query', { issuer_url: 'https://example.com/?' }, 'issuer_url', /query/],
    ['a fragment', { issuer_url: 'https://example.com#x' }, 'issuer_url', /fragment/],
    ['an empty issuer', { issuer_url: '' }, 'issuer_url', /empty/],
    ['an issuer alone', { client_id: null }, 'client_id', /both issuer_url and client_id/],
    ['a client ID alone', { issuer_url: null }, 'issuer_url', /both issuer_url and client_id/],
    ['an empty claim', { username_claim: '' }, 'username_claim', /empty/],
    ['a blank around', { groups_claim: ' groups' }, 'groups_claim', /white space/],
    ['a line break', { client_id: 'a\nb' }, 'client_id', /control/],
    ['a blank after', { groups_claim: 'groups ' }, 'groups_claim', /white space/],
    ['a blank in front of a claim name', { required_claims: { ' hd': 'x' } }, 'required_claims. hd', /white space/],
    ['a password alone', { issuer_url: 'https://:secret@example.com' }, 'issuer_url', /user name/],
    ['a backslash', { issuer_url: 'https://example.com\\a' }, 'issuer_url', /valid URL/],
    ['a system prefix', { groups_prefix: 'system:' }, 'groups_prefix', /system:/],
    ['a longer system prefix', { username_prefix: 'system:node:' }, 'username_prefix', /system:/],
    ['half a system prefix', { groups_prefix: 'sys' }, 'groups_prefix', /system:/],
    ['an algorithm twice', { signing_algs: ['RS256', 'RS256'] }, 'signing_algs.1', /twice/],
    ['an empty claim value', { required_claims: { hd: '' } }, 'required_claims.hd', /empty/],
    ['a claim name with =', { required_claims: { 'a=b': 'c' } }, 'required_claims.a=b', /"="/],
    ['a claim value with a blank', { required_claims: { hd: 'x ' } }, 'required_claims.hd', /white space/],
  ])('%s', (_, change, field, message) => {
    expect(problemsWith(change)).toEqual([
      { field: `authentication.oidc.${field}`, message: expect.stringMatching(message) },
    ]);
  });
});
