import { createPrivateKey, generateKeyPairSync, webcrypto } from 'node:crypto';
import { beforeAll, expect, it } from 'vitest';
import { asVersion1, type Issuer, issued, keyText, newKeys } from '../../../../test/support/tls-bundles.ts';
import { bundleProblems } from './tls-bundle.ts';

let root: Issuer;
let intermediate: Issuer;
let leaf: Issuer;
let key: string;
beforeAll(async () => {
  root = await issued({ name: 'Root' });
  intermediate = await issued({ name: 'Intermediate', by: root });
  leaf = await issued({ name: 'www.example.com', by: intermediate, ca: false });
  key = await keyText(leaf);
});

async function refused(change: object = {}): Promise<[string, string][]> {
  const bundle = { certificate: leaf.pem, certificate_chain: intermediate.pem + root.pem, private_key: key };
  return bundleProblems({ ...bundle, ...change }, new Date()).map(({ field, message }) => [
    field.replace('payload.', ''),
    message,
  ]);
}

it('takes a certificate with its key, alone or with its issuers in order', async () => {
  expect(await refused()).toEqual([]);
  expect(await refused({ certificate_chain: '' })).toEqual([]);
  expect(await refused({ certificate_chain: intermediate.pem })).toEqual([]);
  expect(await refused({ certificate_chain: leaf.pem + intermediate.pem + root.pem })).toEqual([]);
  expect(await refused({ certificate: `Bag Attributes\r\n${leaf.pem.replaceAll('\n', '\r\n')}` })).toEqual([]);
});

it('takes a chain as OpenSSL takes it: in any order, with others in it, and not up to the root', async () => {
  const other = await issued({ name: 'Other' });
  const lower = await issued({ name: 'Lower', by: intermediate });
  const below = await issued({ name: 'www.example.com', by: lower, keys: leaf.keys, ca: false });
  for (const [certificate, ...chain] of [
    [leaf, root, intermediate],
    [leaf, intermediate, root, other],
    [leaf, other, intermediate],
    [root, other],
    [below, lower],
    [below, root, lower],
    [below, root, lower, other, intermediate],
  ] as const) {
    const certificate_chain = chain.map(({ pem }) => pem).join('');
    const own = certificate === root ? { private_key: await keyText(root) } : {};
    expect(await refused({ certificate: certificate.pem, certificate_chain, ...own })).toEqual([]);
  }
});

it('takes a root of version 1, which has no basic constraints, and one that has expired', async () => {
  const old = asVersion1(await issued({ name: 'Root', keys: root.keys, from: -9, to: -1 }));
  expect(await refused({ certificate_chain: intermediate.pem + old })).toEqual([]);
  const direct = await issued({ name: 'www.example.com', by: root, keys: leaf.keys, ca: false });
  const unrelated = asVersion1(await issued({ name: 'Other' }));
  expect(await refused({ certificate: direct.pem, certificate_chain: old + unrelated })).toEqual([]);
  const stranger = asVersion1(await issued({ name: 'Root' }));
  expect(await refused({ certificate: direct.pem, certificate_chain: stranger })).toEqual([
    ['certificate_chain', 'Certificate CN=www.example.com is not signed with the key of Certificate CN=Root.'],
  ]);
});

it('takes the certificate of an issuer that is valid, beside an expired one for the same key', async () => {
  const old = await issued({ name: 'Intermediate', by: root, keys: intermediate.keys, from: -9, to: -1 });
  expect(await refused({ certificate_chain: old.pem + intermediate.pem })).toEqual([]);
});

it('takes a certificate that signed itself', async () => {
  expect(
    await refused({ certificate: root.pem, certificate_chain: root.pem, private_key: await keyText(root) }),
  ).toEqual([]);
});

it.each([
  ['rsa', { modulusLength: 1024 }, 'Use another kind'],
  ['rsa', { modulusLength: 2048 }, 'Is not the key'],
  ['ec', { namedCurve: 'secp256k1' }, 'Use another kind'],
  ['ec', { namedCurve: 'P-384' }, 'Is not the key'],
  ['ed25519', {}, 'Is not the key'],
  ['x25519', {}, 'Use another kind'],
])('looks at the kind of a key: %s %o', async (type, options, message) => {
  const { privateKey } = generateKeyPairSync(type as 'rsa', options as { modulusLength: number });
  const problems = await refused({ private_key: privateKey.export({ format: 'pem', type: 'pkcs8' }) });
  expect(problems).toEqual([['private_key', expect.stringContaining(message)]]);
});

it.each([
  ['no key', () => ({ private_key: 'key' }), ['private_key', 'Is not a private key in PEM format.']],
  [
    'an encrypted key',
    () => ({
      private_key: createPrivateKey(key)
        .export({ format: 'pem', type: 'pkcs8', cipher: 'aes-256-cbc', passphrase: 'x' })
        .toString(),
    }),
    ['private_key', 'Is encrypted; decrypt it first, for example with "openssl pkey".'],
  ],
  [
    'the key of another',
    async () => ({ private_key: await keyText(root) }),
    ['private_key', 'Is not the key of the certificate.'],
  ],
  ['no certificate', () => ({ certificate: 'x' }), ['certificate', 'Contains no certificate in PEM format.']],
  [
    'several certificates',
    () => ({ certificate: leaf.pem + root.pem }),
    ['certificate', 'Contains several certificates; move all but the first to certificate_chain.'],
  ],
  [
    'half a certificate',
    () => ({ certificate: leaf.pem.replace(/\n[^\n-]+\n/, '\n') }),
    ['certificate', "Certificate 1 can't be read."],
  ],
  [
    'a chain that is no chain',
    () => ({ certificate_chain: 'x' }),
    ['certificate_chain', 'Contains no certificate in PEM format.'],
  ],
  [
    'a long chain',
    () => ({ certificate_chain: root.pem.repeat(11) }),
    ['certificate_chain', 'Contains more than 10 certificates.'],
  ],
  [
    'a chain without the issuer',
    () => ({ certificate_chain: root.pem }),
    ['certificate_chain', expect.stringContaining('CN=Root did not issue Certificate CN=www.example.com')],
  ],
  [
    'an issuer of the same name with another key',
    async () => ({ certificate_chain: (await issued({ name: 'Intermediate', by: root })).pem }),
    ['certificate_chain', 'Certificate CN=www.example.com is not signed with the key of Certificate CN=Intermediate.'],
  ],
  [
    'an issuer who may not issue',
    async () => {
      const by = await issued({ name: 'Mere server', by: root, ca: false });
      const certificate = await issued({ name: 'a.example.com', by, keys: leaf.keys, ca: false });
      return { certificate: certificate.pem, certificate_chain: by.pem };
    },
    ['certificate_chain', expect.stringContaining('CN=Mere server may not issue certificates')],
  ],
  [
    'an issuer of version 1 that is no root',
    () => ({ certificate_chain: asVersion1(intermediate, root) + root.pem }),
    ['certificate_chain', expect.stringContaining('CN=Intermediate may not issue certificates')],
  ],
  [
    'an expired certificate',
    async () => ({
      certificate: (await issued({ name: 'old', by: intermediate, keys: leaf.keys, from: -9, to: -1 })).pem,
    }),
    ['certificate', expect.stringMatching(/^Certificate CN=old expired at \d{4}-/)],
  ],
  [
    'a certificate from the future',
    async () => ({
      certificate: (await issued({ name: 'new', by: intermediate, keys: leaf.keys, from: 1 })).pem,
    }),
    ['certificate', expect.stringMatching(/^Certificate CN=new is not valid before \d{4}-/)],
  ],
  [
    'an expired issuer',
    async () => ({
      certificate_chain: (await issued({ name: 'Intermediate', by: root, keys: intermediate.keys, from: -9, to: -1 }))
        .pem,
    }),
    ['certificate_chain', expect.stringContaining('CN=Intermediate expired at')],
  ],
])('refuses %s', async (_, change, problem) => {
  expect(await refused(await change())).toEqual([problem]);
});

it('takes an issuer that is listed several times, and refuses many of one name', async () => {
  expect(await refused({ certificate_chain: intermediate.pem.repeat(9) + root.pem })).toEqual([]);
  const others = await Promise.all([1, 2, 3].map(async () => (await issued({ name: 'Intermediate', by: root })).pem));
  expect(await refused({ certificate_chain: others.slice(1).join('') + intermediate.pem })).toEqual([]);
  expect(await refused({ certificate_chain: others.join('') + intermediate.pem })).toEqual([
    ['certificate_chain', expect.stringContaining('More than 3 certificates have the name of')],
  ]);
});

it('refuses an issuer with a key of a kind that is refused for servers, before it checks anything with it', async () => {
  const algorithm = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256', publicExponent: new Uint8Array([1, 0, 1]) };
  const keys = await webcrypto.subtle.generateKey({ ...algorithm, modulusLength: 1024 }, true, ['sign', 'verify']);
  const by = await issued({ name: 'Short', by: root, keys });
  const certificate = await issued({ name: 'a.example.com', by, keys: leaf.keys, ca: false });
  expect(await refused({ certificate: certificate.pem, certificate_chain: by.pem })).toEqual([
    ['certificate_chain', expect.stringContaining('CN=Short has another kind of key than RSA with 2048')],
  ]);
});

it('says all that is wrong', async () => {
  const other = await issued({ name: 'other', keys: await newKeys() });
  const problems = await refused({ private_key: 'key', certificate_chain: other.pem });
  expect(problems.map(([field]) => field)).toEqual(['private_key', 'certificate_chain']);
});
